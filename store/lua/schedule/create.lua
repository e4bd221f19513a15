-- Creates a schedule with the task of its first occurrence, or returns the one that the same key created before.
--
-- KEYS  schedule core:work
-- ARGV  schedule_id plan content created_ms next_ms
--   content  hash of the request
--   next_ms  of the first occurrence
-- Returns {OK, 1 for a duplicate, then as schedule_record}
-- Refuses KEYREUSED
-- include: schedule
local before = redis.call('HGET', schedule, 'content')
if before then
  if before ~= content then return {'KEYREUSED'} end
  return {'OK', 1, unpack(schedule_record())}
end

redis.call('HSET', schedule, 'plan', plan, 'content', content, 'state', 'pending', 'version', '1', 'created_ms', created_ms,
  'next_ms', next_ms, 'fired', '0', 'sent', '0', 'missed', '0')
enqueue_occurrence('1', next_ms, clock_ms())
return {'OK', 0, unpack(schedule_record())}
