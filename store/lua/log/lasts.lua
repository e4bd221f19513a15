-- Reads the ends of logs. Only reads.
--
-- KEYS  groups(last_id meta)...
-- Returns {OK, last (-1 if there is no group), epoch (''), ... for each}
local out = {'OK'}
for i = groups, #KEYS, groups_row do
  -- bind: groups at i
  local epoch = redis.call('HGET', meta, 'epoch')
  out[#out + 1] = epoch and redis.call('GET', last_id) or '-1'
  out[#out + 1] = epoch or ''
end
return out
