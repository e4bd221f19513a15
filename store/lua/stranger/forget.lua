-- Takes users off a sender's list of strangers: they use the server by now.
--
-- KEYS  strangers
-- ARGV  fields...
--   fields  at most 500
-- Returns {OK}
redis.call('HDEL', strangers, unpack(ARGV, fields))
return {'OK'}
