-- Stores the answer of a creation with a key. A key that is no longer claimed was dropped for its age.
--
-- KEYS  keys
-- ARGV  key status body
-- Returns {OK}
local known = redis.call('HGET', keys, key)
if known then redis.call('HSET', keys, key, string.match(known, '^%S+') .. ' ' .. status .. ' ' .. body) end
return {'OK'}
