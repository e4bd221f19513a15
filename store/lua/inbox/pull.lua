-- include: int.lua
-- Reads items of an inbox after a seq. Only reads.
--
-- KEYS  1 inbox, 2 inbox:base
-- ARGV  1 seq ('': after what was acked), 2 limit
-- Returns {OK, epoch, base, lost, acked, items stored, the items}
local inbox, base_key = KEYS[1], KEYS[2]
local after, limit = tonumber(ARGV[1]), tonumber(ARGV[2])

local m = redis.call('HMGET', base_key, 'epoch', 'base', 'lost', 'acked')
local base = tonumber(m[2] or 0)
local out = {'OK', m[1] or '', int(base), m[3] or '0', m[4] or '0', redis.call('LLEN', inbox)}
-- A position above the end is of an inbox that lost its end: such a reader starts over from the oldest item.
local start = math.max((after or base) - base, 0)
if start > out[6] then start = 0 end
if limit > 0 then
  for _, item in ipairs(redis.call('LRANGE', inbox, int(start), int(start + limit - 1))) do out[#out + 1] = item end
end
return out
