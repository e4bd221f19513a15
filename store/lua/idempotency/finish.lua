-- Keeps what a creation with a key answered. A key that is not claimed any longer was dropped for its age.
--
-- KEYS  keys
-- ARGV  key status body
-- Returns {OK}
local known = redis.call('HGET', keys, key)
if known then redis.call('HSET', keys, key, string.match(known, '^%S+') .. ' ' .. status .. ' ' .. body) end
return {'OK'}
