-- Reads what a member gets notified of in a group. Only reads.
--
-- KEYS  meta members levels
-- ARGV  user
-- Returns {OK, all, mentions or none, when that ends, in ms; 0: it applies until it is changed}
-- Refuses NOTFOUND, FORBIDDEN
-- include: not_member
local epoch, visibility = unpack(redis.call('HMGET', meta, 'epoch', 'visibility'))
if not epoch then return {'NOTFOUND'} end
if redis.call('HEXISTS', members, user) == 0 then return not_member(visibility) end
local level, until_ms = string.match(redis.call('HGET', levels, user) or 'all 0', '^(%S+) (%d+)$')
return {'OK', level, until_ms}
