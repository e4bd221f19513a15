-- Records that a node is alive, counts its users in live, and removes at most 500 entries of one dead node.
--
-- KEYS  live nodes present
-- ARGV  node lasts_ms:int
--   lasts_ms  how long this heartbeat counts
-- Returns {OK, how many users the node has in live, how many nodes are alive here}
-- include: base
local now_ms = clock_ms()

redis.call('ZADD', nodes, int(now_ms + lasts_ms), node)
local dead = redis.call('ZRANGEBYSCORE', nodes, '-inf', int(now_ms), 'LIMIT', 0, 1)[1]
if dead then
  local left = redis.call('ZRANGEBYLEX', live, '[' .. dead .. ' ', '(' .. dead .. '!', 'LIMIT', 0, 500)
  if #left > 0 then
    redis.call('ZREM', live, unpack(left))
    redis.call('HDEL', present, unpack(left))
  end
  if #left < 500 then redis.call('ZREM', nodes, dead) end
end
return {'OK', redis.call('ZLEXCOUNT', live, '[' .. node .. ' ', '(' .. node .. '!'),
  redis.call('ZCOUNT', nodes, '(' .. int(now_ms), '+inf')}
