-- Has a direct group know whether one of its two users is blocked by the other. It may come before the group: its creation looks.
--
-- KEYS  meta mutes
-- ARGV  user blocked:flag
-- Returns {OK}
-- include: blocked
local is = is_blocked(redis.call('ZSCORE', mutes, user))
if blocked and not is then
  redis.call('ZADD', mutes, BLOCKED, user)
elseif is and not blocked then
  redis.call('ZREM', mutes, user)
end
if redis.call('EXISTS', meta) == 0 then return {'OK'} end
if redis.call('EXISTS', mutes) == 1 then
  redis.call('HSET', meta, 'muted', '1')
else
  redis.call('HDEL', meta, 'muted')
end
return {'OK'}
