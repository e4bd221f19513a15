-- Writes a note that counts for a while, or keeps one, and drops up to 100 that have ended.
--
-- KEYS  health health_ends
-- ARGV  id text lasts_ms:int notes_max:int
--   text  '' keeps the one that is there
-- Returns {OK, 1}, or {OK, 0} if there is none to keep, or there are too many
-- include: base
local now_ms = clock_ms()
local ended = redis.call('ZRANGEBYSCORE', health_ends, '-inf', int(now_ms), 'LIMIT', 0, 100)
if #ended > 0 then
  redis.call('HDEL', health, unpack(ended))
  redis.call('ZREM', health_ends, unpack(ended))
end
local there = redis.call('HEXISTS', health, id) == 1
if not there and (text == '' or redis.call('ZCARD', health_ends) >= notes_max) then return {'OK', 0} end
if text ~= '' then redis.call('HSET', health, id, text) end
redis.call('ZADD', health_ends, int(now_ms + lasts_ms), id)
return {'OK', 1}
