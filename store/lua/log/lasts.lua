-- Reads the ends of logs. Only reads.
--
-- KEYS  groups(last_id meta)...
-- Returns {OK, last (-1 if there is no group), epoch (''), trimmed (as in group/infos.lua), streams ('1' if any is open, ''), ... for each}
local out = {'OK'}
for i = groups, #KEYS, groups_row do
  -- bind: groups at i
  local epoch, trimmed, streams = unpack(redis.call('HMGET', meta, 'epoch', 'trimmed', 'streams'))
  out[#out + 1] = epoch and redis.call('GET', last_id) or '-1'
  out[#out + 1] = epoch or ''
  out[#out + 1] = trimmed or ''
  out[#out + 1] = streams or ''
end
return out
