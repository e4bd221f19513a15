-- Puts a user on the list of those whom the server has ever known.
--
-- KEYS  1 users
-- ARGV  1 user
-- Returns {OK}
redis.call('ZADD', KEYS[1], 0, ARGV[1])
return {'OK'}
