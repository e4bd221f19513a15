-- Reads what a member is told of in a group. Only reads.
--
-- KEYS  1 meta, 2 members, 3 levels
-- ARGV  1 user
-- Returns {OK, all, mentions or none, until when it holds, in ms; 0: until it is changed}
-- Refuses NOTFOUND, FORBIDDEN
local meta, members, levels, user = KEYS[1], KEYS[2], KEYS[3], ARGV[1]

local m = redis.call('HMGET', meta, 'epoch', 'visibility')
if not m[1] then return {'NOTFOUND'} end
if redis.call('HEXISTS', members, user) == 0 then return {m[2] == 'public' and 'FORBIDDEN' or 'NOTFOUND'} end
local level, until_ms = string.match(redis.call('HGET', levels, user) or 'all 0', '^(%S+) (%d+)$')
return {'OK', level, until_ms}
