-- Takes schedules out of the index of their owner, and forgets firings of more than a minute ago.
--
-- KEYS  schedules firings
-- ARGV  ids...
--   schedules  of the owner
--   ids        at least one
-- Returns {OK}
-- include: base
-- include: prune
prune(firings, clock_ms() - 60000)
redis.call('ZREM', schedules, unpack(ARGV, ids))
return {'OK'}
