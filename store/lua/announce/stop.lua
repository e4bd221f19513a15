-- Stops an announcement in one partition: no page of it is done any longer, and no run starts.
--
-- KEYS  part
-- Returns {OK}
redis.call('HSET', part, 'stopped', '1')
return {'OK'}
