-- Puts a schedule back into the index of its owner.
--
-- KEYS  schedules
-- ARGV  id
-- Returns {OK}
-- include: base
redis.call('ZADD', schedules, 'NX', int(tonumber(redis.call('TIME')[1]) * 1000), id)
return {'OK'}
