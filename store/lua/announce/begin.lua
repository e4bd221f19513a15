-- include: int.lua
-- include: task_enqueue.lua
-- Begins a run of an announcement when its time has come and the run before is over, and enqueues the task of the next
-- one where it recurs. A run that was begun before goes on.
--
-- KEYS  1 announcement, 2..9 of the core queue
-- ARGV  1 run, 2 when the next run starts in ms (0: there is none), 3 id for its task, 4 its payload
-- Returns {OK, 1 to go on with the run, 0 not; ms to wait before asking again, 0: never}
local record = KEYS[1]
local run, next_ms, task_id, payload = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3], ARGV[4]

local m = redis.call('HMGET', record, 'state', 'run', 'next_ms', 'priority')
local state, newest = m[1], tonumber(m[2])
if state == 'running' and newest == run then return {'OK', 1, 0} end
if state ~= 'pending' and state ~= 'running' or newest ~= run - 1 then return {'OK', 0, 0} end
local now_ms = clock_ms()
local due_ms = tonumber(m[3])
if now_ms < due_ms then return {'OK', 0, int(due_ms - now_ms)} end
if state == 'running' then return {'OK', 0, 1000} end

redis.call('HSET', record, 'state', 'running', 'run', int(run), 'next_ms', int(next_ms), 'task', task_id, 'closed', '0')
if next_ms > 0 then
  task_enqueue(2, task_id, 'announce', payload, m[4], next_ms, now_ms, '')
end
return {'OK', 1, 0}
