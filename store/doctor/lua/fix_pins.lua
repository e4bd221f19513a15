-- Has a pinned message read as in the log, unpins one of which the pin or the message was lost, and has the settings say whether anything
-- is pinned.
--
-- KEYS  meta msgs pins pinned
-- ARGV  target
-- Returns {OK}
local stored = redis.call('ZRANGEBYSCORE', msgs, target, target)[1]
if redis.call('HEXISTS', pins, target) == 0 or redis.call('HEXISTS', pinned, target) == 0 then
  redis.call('HDEL', pins, target)
  redis.call('HDEL', pinned, target)
elseif stored then
  redis.call('HSET', pinned, target, stored)
end
if redis.call('EXISTS', pins) == 1 then redis.call('HSET', meta, 'pinned', '1') else redis.call('HDEL', meta, 'pinned') end
return {'OK'}
