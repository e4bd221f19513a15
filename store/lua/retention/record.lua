-- Records after how many days the messages of all groups go, in a partition.
--
-- KEYS  retention
-- ARGV  days:int
-- Returns {OK, 1 if every group follows it already}
-- include: base
local has_days, walked = unpack(redis.call('HMGET', retention, 'days', 'walked'))
if tonumber(has_days or 0) == days then return {'OK', (walked == '1' or not has_days) and 1 or 0} end
redis.call('HSET', retention, 'days', int(days), 'walked', '0')
return {'OK', 0}
