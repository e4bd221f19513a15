-- Records that every group follows a number of days, if that has not changed meanwhile.
--
-- KEYS  retention
-- ARGV  days:int
-- Returns {OK}
if tonumber(redis.call('HGET', retention, 'days') or 0) == days then redis.call('HSET', retention, 'walked', '1') end
return {'OK'}
