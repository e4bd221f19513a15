-- Records when a schedule fires next, before it is moved or resumed and after an occurrence, or that it no longer fires.
--
-- KEYS  firings
-- ARGV  schedule_id next_ms:int firings_max:int
--   firings      of the owner
--   next_ms      0: it does not fire
--   firings_max  within any minute; 0: it fires then, full or not
-- Returns {OK}
-- Refuses FIRINGS if the minute is full
-- include: firings
if next_ms == 0 then
  redis.call('ZREM', firings, schedule_id)
  return {'OK'}
end
local now_ms = clock_ms()
-- A late schedule fires at once, and counts once, in this minute.
local noted_ms = tonumber(redis.call('ZSCORE', firings, schedule_id) or 0)
if next_ms <= now_ms and noted_ms > now_ms - 60000 and noted_ms <= now_ms then return {'OK'} end
next_ms = math.max(next_ms, now_ms)
if firings_max > 0 and firings_full(schedule_id, next_ms, firings_max) then return {'FIRINGS'} end
firings_put(schedule_id, next_ms, now_ms)
return {'OK'}
