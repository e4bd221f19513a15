-- Removes keys of an announcement that has ended, all of one partition; those of other partitions first, then the
-- announcement itself.
--
-- KEYS  1 announcements (only the one in p00 holds any), then what to remove
-- ARGV  1 id
-- Returns {OK}
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('UNLINK', unpack(KEYS, 2))
return {'OK'}
