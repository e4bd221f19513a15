-- Reads where logs end. Only reads.
--
-- KEYS  id and meta of each group
-- Returns {OK, last (-1 where there is no group), epoch (''), ... for each}
local out = {'OK'}
for i = 1, #KEYS, 2 do
  local epoch = redis.call('HGET', KEYS[i + 1], 'epoch')
  out[#out + 1] = epoch and redis.call('GET', KEYS[i]) or '-1'
  out[#out + 1] = epoch or ''
end
return out
