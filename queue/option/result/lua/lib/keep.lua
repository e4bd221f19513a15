-- needs: kept results now_ms
-- keep stores results: until_ms are the times until which they are kept, each before the id of its task, and left are the ids,
-- each before its result. It forgets some whose time is over: more than there can be new ones.
local function keep(until_ms, left)
  redis.call('ZADD', kept, unpack(until_ms))
  redis.call('HSET', results, unpack(left))
  local over = redis.call('ZRANGEBYSCORE', kept, '-inf', string.format('%.0f', now_ms), 'LIMIT', 0, #left + 10)
  if #over > 0 then
    redis.call('ZREM', kept, unpack(over))
    redis.call('HDEL', results, unpack(over))
  end
end
