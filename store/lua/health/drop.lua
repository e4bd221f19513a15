-- Removes a note.
--
-- KEYS  health health_ends
-- ARGV  id
-- Returns {OK}
redis.call('HDEL', health, id)
redis.call('ZREM', health_ends, id)
return {'OK'}
