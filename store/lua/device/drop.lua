-- Removes a device of a user: whatever it is, or only while it reads as it did.
--
-- KEYS  1 devices, 2 reachable
-- ARGV  1 user, 2 id, 3 what is to be removed, or ''
-- Returns {OK}
local devices, reachable = KEYS[1], KEYS[2]
local user, id, is = ARGV[1], ARGV[2], ARGV[3]

if is ~= '' and redis.call('HGET', devices, id) ~= is then return {'OK'} end

redis.call('HDEL', devices, id)
if redis.call('EXISTS', devices) == 0 then redis.call('SREM', reachable, user) end
return {'OK'}
