-- Looks up the answer of a creation with a key, or records that it began. `<hash of the content> <status> <body>` is
-- stored; the status is 0 until it is finished.
--
-- KEYS  keys keys_at
-- ARGV  key content keys_max:int age_ms:int
--   content  hashed
--   age_ms   after which a key may go
-- Returns {OK, status or 0, body}
-- Refuses KEYREUSED
-- include: base
local known = redis.call('HGET', keys, key)
if known then
  local before, status, body = string.match(known, '^(%S+) (%d+) (.*)$')
  if before ~= content then return {'KEYREUSED'} end
  return {'OK', tonumber(status), body}
end
local now_ms = clock_ms()

local function drop(old)
  if #old == 0 then return end
  redis.call('HDEL', keys, unpack(old))
  redis.call('ZREM', keys_at, unpack(old))
end
drop(redis.call('ZRANGEBYSCORE', keys_at, '-inf', int(now_ms - age_ms), 'LIMIT', 0, 100))
local over = redis.call('ZCARD', keys_at) + 1 - keys_max
if over > 0 then drop(redis.call('ZRANGE', keys_at, 0, int(math.min(over, 100) - 1))) end
redis.call('HSET', keys, key, content .. ' 0 ')
redis.call('ZADD', keys_at, int(now_ms), key)
return {'OK', 0, ''}
