-- Sets what a member gets notified of in a group.
--
-- KEYS  meta members levels
-- ARGV  user level until_ms
--   level     all, mentions or none
--   until_ms  when it ends; 0: it applies until it is changed
-- Returns {OK}
-- Refuses NOTFOUND, FORBIDDEN
-- include: not_member
local epoch, visibility = unpack(redis.call('HMGET', meta, 'epoch', 'visibility'))
if not epoch then return {'NOTFOUND'} end
if redis.call('HEXISTS', members, user) == 0 then return not_member(visibility) end

if level == 'all' then
  redis.call('HDEL', levels, user)
else
  redis.call('HSET', levels, user, level .. ' ' .. until_ms)
end
return {'OK'}
