-- Removes the items of an inbox up to and including a seq. A repeat removes nothing more.
--
-- KEYS  inbox inbox_base
-- ARGV  seq:int
-- Returns {OK}
-- Refuses OUTOFRANGE
-- include: base
local m = redis.call('HMGET', inbox_base, 'base', 'acked')
local base, acked = tonumber(m[1] or 0), tonumber(m[2] or 0)
if seq > base + redis.call('LLEN', inbox) then return {'OUTOFRANGE', 'seq', 0, int(base + redis.call('LLEN', inbox))} end

if seq > base then
  redis.call('LTRIM', inbox, int(seq - base), -1)
  redis.call('HSET', inbox_base, 'base', int(seq))
end
if seq > acked then redis.call('HSET', inbox_base, 'acked', int(seq)) end
return {'OK'}
