-- Puts a user on the list of those whom the server has ever known.
--
-- KEYS  users
-- ARGV  user
-- Returns {OK}
redis.call('ZADD', users, 0, user)
return {'OK'}
