-- include: int.lua
-- Puts a schedule into the index of its owner.
--
-- KEYS  1 schedules of the user
-- ARGV  1 id, 2 schedules at most
-- Returns {OK, when it was put in, in ms}
-- Refuses SCHEDULES where the index is full
local index, id, schedules_max = KEYS[1], ARGV[1], tonumber(ARGV[2])

local at = redis.call('ZSCORE', index, id)
if at then return {'OK', int(tonumber(at))} end
if redis.call('ZCARD', index) >= schedules_max then return {'SCHEDULES'} end
at = int(clock_ms())

redis.call('ZADD', index, at, id)
return {'OK', at}
