-- Keeps what a creation with a key answered. A key that is not claimed any longer was dropped for its age.
--
-- KEYS  1 keys
-- ARGV  1 key, 2 status, 3 body
-- Returns {OK}
local keys = KEYS[1]
local key, status, body = ARGV[1], ARGV[2], ARGV[3]

local known = redis.call('HGET', keys, key)
if known then redis.call('HSET', keys, key, string.match(known, '^%S+') .. ' ' .. status .. ' ' .. body) end
return {'OK'}
