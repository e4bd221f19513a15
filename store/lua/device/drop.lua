-- Removes a device of a user: whatever it is, or only while it reads as it did.
--
-- KEYS  devices reachable
-- ARGV  user id is
--   is  what is to be removed, or ''
-- Returns {OK}
if is ~= '' and redis.call('HGET', devices, id) ~= is then return {'OK'} end

redis.call('HDEL', devices, id)
if redis.call('EXISTS', devices) == 0 then redis.call('SREM', reachable, user) end
return {'OK'}
