-- include: int.lua
-- Reads the highest seq of inboxes. Only reads.
--
-- KEYS  inbox and inbox:base of each user
-- Returns {OK, the highest seq of each}
local out = {'OK'}
for i = 1, #KEYS, 2 do
  out[#out + 1] = int(tonumber(redis.call('HGET', KEYS[i + 1], 'base') or 0) + redis.call('LLEN', KEYS[i]))
end
return out
