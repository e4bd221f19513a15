-- Adds a schedule to the index of its owner.
--
-- KEYS  schedules
-- ARGV  schedule_id schedules_max:int
--   schedules  of the owner
-- Returns {OK, when it was added, in ms}
-- Refuses SCHEDULES if the index is full
-- include: base
local at_ms = redis.call('ZSCORE', schedules, schedule_id)
if at_ms then return {'OK', int(tonumber(at_ms))} end
if redis.call('ZCARD', schedules) >= schedules_max then return {'SCHEDULES'} end
at_ms = int(clock_ms())

redis.call('ZADD', schedules, at_ms, schedule_id)
return {'OK', at_ms}
