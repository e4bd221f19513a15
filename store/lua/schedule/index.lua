-- Puts a schedule into the index of its owner, with when it fires first.
--
-- KEYS  schedules firings
-- ARGV  schedule_id schedules_max:int next_ms:int firings_max:int
--   schedules    of the owner
--   next_ms      0: the owner may plan as much as they like
--   firings_max  within any minute
-- Returns {OK, when it was put in, in ms}
-- Refuses SCHEDULES if the index is full, FIRINGS if the minute is
-- include: firings
local at_ms = redis.call('ZSCORE', schedules, schedule_id)
if at_ms then return {'OK', int(tonumber(at_ms))} end
if redis.call('ZCARD', schedules) >= schedules_max then return {'SCHEDULES'} end
local now_ms = clock_ms()
if next_ms > 0 then next_ms = math.max(next_ms, now_ms) end
if next_ms > 0 and firings_full(schedule_id, next_ms, firings_max) then return {'FIRINGS'} end
at_ms = int(now_ms)

if next_ms > 0 then firings_put(schedule_id, next_ms, now_ms) end
redis.call('ZADD', schedules, at_ms, schedule_id)
return {'OK', at_ms}
