-- Adds a user who has devices to the list of users who can be notified.
--
-- KEYS  devices reachable
-- ARGV  user
-- Returns {OK}
if redis.call('EXISTS', devices) == 1 then redis.call('SADD', reachable, user) end
return {'OK'}
