-- Takes schedules out of the index of their owner.
--
-- KEYS  1 schedules of the user
-- ARGV  ids, at least one
-- Returns {OK}
redis.call('ZREM', KEYS[1], unpack(ARGV))
return {'OK'}
