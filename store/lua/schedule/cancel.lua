-- Cancels a schedule and removes its task; a task that is already running finds another version.
--
-- KEYS  schedule core:work
-- ARGV  schedule_id
-- Returns {OK, plan}, also if it is cancelled already
-- Refuses NOTFOUND; CONFLICT if it has ended otherwise
-- include: schedule
local state, version, plan = unpack(redis.call('HMGET', schedule, 'state', 'version', 'plan'))
if not state then return {'NOTFOUND'} end
if state == 'cancelled' then return {'OK', plan} end
if not schedule_waits(state) then return {'CONFLICT'} end

task_cancel(core, occurrence_task(version))
redis.call('HSET', schedule, 'state', 'cancelled', 'version', schedule_next_version(version))
schedule_over(clock_ms())
return {'OK', plan}
