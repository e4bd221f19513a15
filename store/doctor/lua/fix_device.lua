-- Puts a user who has devices on the list of those who can be notified.
--
-- KEYS  devices reachable
-- ARGV  user
-- Returns {OK}
if redis.call('EXISTS', devices) == 1 then redis.call('SADD', reachable, user) end
return {'OK'}
