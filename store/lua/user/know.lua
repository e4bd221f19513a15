-- Adds a user to the list of all known users, as one who uses the server.
--
-- KEYS  users unused
-- ARGV  user
-- Returns {OK}
redis.call('ZADD', users, 0, user)
redis.call('SREM', unused, user)
return {'OK'}
