-- Stops an announcement in one partition: no page of it is done any longer, and no run starts.
--
-- KEYS  1 part
-- ARGV  none
-- Returns {OK}
redis.call('HSET', KEYS[1], 'stopped', '1')
return {'OK'}
