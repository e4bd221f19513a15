-- Stops an announcement in one partition: no further page is delivered, and no run starts.
--
-- KEYS  part
-- Returns {OK}
redis.call('HSET', part, 'stopped', '1')
return {'OK'}
