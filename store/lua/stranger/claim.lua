-- Records that a user writes to one who has never used the server, and how many bytes. An item is counted once.
--
-- KEYS  strangers
-- ARGV  to item bytes:int bytes_max:int
--   item       names it
--   bytes_max  to all such users together
-- Returns {OK}
-- Refuses FULL
local field = to .. ' ' .. item
if redis.call('HEXISTS', strangers, field) == 1 then return {'OK'} end
local all, sum = redis.call('HGETALL', strangers), bytes
for i = 2, #all, 2 do sum = sum + tonumber(all[i]) end
if sum > bytes_max then return {'FULL'} end

redis.call('HSET', strangers, field, string.format('%.0f', bytes))
return {'OK'}
