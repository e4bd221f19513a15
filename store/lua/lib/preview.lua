-- include: base
-- needs: previews previews_at
-- write_preview writes what there is of a link until it ends. Up to 100 go that have ended, and the one that ends first where there are too many.
local function write_preview(id, text, lasts_ms, previews_max, now_ms)
  local gone = redis.call('ZRANGEBYSCORE', previews_at, '-inf', int(now_ms), 'LIMIT', 0, 100)
  if #gone == 0 and redis.call('ZCARD', previews_at) >= previews_max then gone = redis.call('ZRANGE', previews_at, 0, 0) end
  if #gone > 0 then
    redis.call('HDEL', previews, unpack(gone))
    redis.call('ZREM', previews_at, unpack(gone))
  end
  local ends_ms = int(now_ms + lasts_ms)
  redis.call('HSET', previews, id, ends_ms .. ' ' .. text)
  redis.call('ZADD', previews_at, ends_ms, id)
end
