-- Changes a schedule that has not ended, and its task with it.
--
-- KEYS  schedule core:work
-- ARGV  schedule_id version plan state next_ms
--   version  that was read
--   state    pending or paused
--   next_ms  of the next occurrence
-- Returns {OK, then as schedule_record}
-- Refuses NOTFOUND; CONFLICT if it has changed since it was read, or has ended
-- include: schedule
local has_state, has_version = unpack(redis.call('HMGET', schedule, 'state', 'version'))
if not has_state then return {'NOTFOUND'} end
if not schedule_waits(has_state) or has_version ~= version then return {'CONFLICT'} end
local now_ms = clock_ms()

task_cancel(core, occurrence_task(version))
version = schedule_next_version(version)
redis.call('HSET', schedule, 'plan', plan, 'state', state, 'version', version, 'next_ms', next_ms)
if state == 'pending' then enqueue_occurrence(version, next_ms, now_ms) end
return {'OK', unpack(schedule_record())}
