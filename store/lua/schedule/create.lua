-- include: schedule.lua
-- Makes a schedule with the task of its first occurrence, or reads the one that the same key made before.
--
-- KEYS  1 schedule, 2..13 of the core queue (Work)
-- ARGV  1 id, 2 plan, 3 hash of the request, 4 created ms, 5 first occurrence in ms
-- Returns {OK, 1 for a duplicate, then as schedule_record}
-- Refuses KEYREUSED
local key, wk = KEYS[1], 2
local id, plan, content, created_ms, next_ms = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

local before = redis.call('HGET', key, 'content')
if before then
  if before ~= content then return {'KEYREUSED'} end
  return {'OK', 1, unpack(schedule_record(key))}
end
local now_ms = clock_ms()

redis.call('HSET', key, 'plan', plan, 'content', content, 'state', 'pending', 'version', '1', 'created_ms', created_ms,
  'next_ms', next_ms, 'fired', '0', 'sent', '0', 'missed', '0')
schedule_at(wk, id, '1', next_ms, now_ms)
return {'OK', 0, unpack(schedule_record(key))}
