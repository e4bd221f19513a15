-- Removes users from a sender's list of strangers: they have used the server by now.
--
-- KEYS  strangers
-- ARGV  fields...
--   fields  at most 500
-- Returns {OK}
redis.call('HDEL', strangers, unpack(ARGV, fields))
return {'OK'}
