-- Removes keys of an ended announcement, all of one partition: those of other partitions first, then the announcement
-- itself.
--
-- KEYS  announcements removed...
-- ARGV  id
--   announcements  only that of p00 has entries
-- Returns {OK}
redis.call('ZREM', announcements, id)
redis.call('UNLINK', unpack(KEYS, removed))
return {'OK'}
