-- Removes schedules from the index of their owner.
--
-- KEYS  schedules
-- ARGV  ids...
--   schedules  of the owner
--   ids        at least one
-- Returns {OK}
redis.call('ZREM', schedules, unpack(ARGV, ids))
return {'OK'}
