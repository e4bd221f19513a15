-- Puts a user on the list of those whom the server has ever known, as one who uses it.
--
-- KEYS  users unused
-- ARGV  user
-- Returns {OK}
redis.call('ZADD', users, 0, user)
redis.call('SREM', unused, user)
return {'OK'}
