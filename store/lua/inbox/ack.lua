-- include: int.lua
-- Removes the items of an inbox up to and including a seq. A repeat removes nothing more.
--
-- KEYS  1 inbox, 2 inbox:base
-- ARGV  1 seq
-- Returns {OK}
-- Refuses OUTOFRANGE
local inbox, base_key = KEYS[1], KEYS[2]
local seq = tonumber(ARGV[1])

local m = redis.call('HMGET', base_key, 'base', 'acked')
local base, acked = tonumber(m[1] or 0), tonumber(m[2] or 0)
if seq > base + redis.call('LLEN', inbox) then return {'OUTOFRANGE'} end

if seq > base then
  redis.call('LTRIM', inbox, int(seq - base), -1)
  redis.call('HSET', base_key, 'base', int(seq))
end
if seq > acked then redis.call('HSET', base_key, 'acked', int(seq)) end
return {'OK'}
