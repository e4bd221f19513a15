-- Starts a run of an announcement when its time has come and the previous run is over, and enqueues the task of the
-- next one if it recurs. A run that was started before continues.
--
-- KEYS  announcement core:enqueue
-- ARGV  run:int next_ms:int task_id payload
--   next_ms           when the next run starts; 0: there is none
--   task_id, payload  of the task of the next run
-- Returns {OK, 1 to go on with the run, else 0; ms to wait before asking again, 0: never}
-- include: base
-- include: task_announce
local state, newest, due_ms, priority = unpack(redis.call('HMGET', announcement, 'state', 'run', 'next_ms', 'priority'))
newest = tonumber(newest)
if state == 'running' and newest == run then return {'OK', 1, 0} end
if state ~= 'pending' and state ~= 'running' or newest ~= run - 1 then return {'OK', 0, 0} end
local now_ms = clock_ms()
due_ms = tonumber(due_ms)
if now_ms < due_ms then return {'OK', 0, int(due_ms - now_ms)} end
if state == 'running' then return {'OK', 0, 1000} end

redis.call('HSET', announcement, 'state', 'running', 'run', int(run), 'next_ms', int(next_ms), 'task', task_id, 'closed', '0')
if next_ms > 0 then enqueue_run(task_id, payload, priority, next_ms, now_ms) end
return {'OK', 1, 0}
