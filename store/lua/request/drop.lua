-- Takes back that a user asked to join.
--
-- KEYS  meta requests asked
-- ARGV  user
-- Returns {OK}
-- Refuses NOTFOUND
-- include: requests
-- include: asked
local now_ms = clock_ms()
local at = asked_at(user, now_ms)
drop_request(redis.call('HGET', meta, 'asked'), user)
return {at and 'OK' or 'NOTFOUND'}
