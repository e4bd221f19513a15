-- Removes a device of a user, unconditionally or only if it has not changed.
--
-- KEYS  devices reachable
-- ARGV  user id is
--   is  the device to remove, or ''
-- Returns {OK}
if is ~= '' and redis.call('HGET', devices, id) ~= is then return {'OK'} end

redis.call('HDEL', devices, id)
if redis.call('EXISTS', devices) == 0 then redis.call('SREM', reachable, user) end
return {'OK'}
