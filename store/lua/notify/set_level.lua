-- Sets what a member is told of in a group.
--
-- KEYS  1 meta, 2 members, 3 levels
-- ARGV  1 user, 2 all, mentions or none, 3 until when it holds, in ms; 0: until it is changed
-- Returns {OK}
-- Refuses NOTFOUND, FORBIDDEN
local meta, members, levels = KEYS[1], KEYS[2], KEYS[3]
local user, level, until_ms = ARGV[1], ARGV[2], ARGV[3]

local m = redis.call('HMGET', meta, 'epoch', 'visibility')
if not m[1] then return {'NOTFOUND'} end
if redis.call('HEXISTS', members, user) == 0 then return {m[2] == 'public' and 'FORBIDDEN' or 'NOTFOUND'} end

if level == 'all' then
  redis.call('HDEL', levels, user)
else
  redis.call('HSET', levels, user, level .. ' ' .. until_ms)
end
return {'OK'}
