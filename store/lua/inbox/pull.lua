-- Reads items of an inbox after a seq. Only reads.
--
-- KEYS  inbox inbox_base
-- ARGV  after limit:int
--   after  a seq; '': what was acked
-- Returns {OK, epoch, base, lost, acked, items stored, the items}
-- include: base
local epoch, base, lost, acked = unpack(redis.call('HMGET', inbox_base, 'epoch', 'base', 'lost', 'acked'))
base = tonumber(base or 0)
local out = {'OK', epoch or '', int(base), lost or '0', acked or '0', redis.call('LLEN', inbox)}
-- A position above the end is of an inbox that lost its end: such a reader starts over from the oldest item.
local start = math.max((tonumber(after) or base) - base, 0)
if start > out[6] then start = 0 end
if limit > 0 then
  for _, item in ipairs(redis.call('LRANGE', inbox, int(start), int(start + limit - 1))) do out[#out + 1] = item end
end
return out
