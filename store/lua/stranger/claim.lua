-- Notes that a user writes to one who has never used the server, and how many bytes.
--
-- KEYS  strangers
-- ARGV  to bytes:int bytes_max:int
--   bytes_max  to all such users together
-- Returns {OK}
-- Refuses FULL
local all, sum = redis.call('HGETALL', strangers), bytes
for i = 2, #all, 2 do sum = sum + tonumber(all[i]) end
if sum > bytes_max then return {'FULL'} end

redis.call('HINCRBY', strangers, to, string.format('%.0f', bytes))
return {'OK'}
