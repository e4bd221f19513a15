-- include: int.lua
-- include: task_enqueue.lua
-- Starts the part of an announcement in one partition, with the task that does its pages. A part keeps the number of its
-- newest run for as long as the announcement is kept, so that no run starts twice, however late somebody asks for it.
--
-- KEYS  1 part, 2 users, 3..10 of the core queue
-- ARGV  1 run, 2 targets here ('': all users), 3 priority, 4 id for the task, 5 its payload
-- Returns {OK, 1 started now, 0 not}
local part, users = KEYS[1], KEYS[2]
local run, targets, priority, task_id, payload = tonumber(ARGV[1]), ARGV[2], ARGV[3], ARGV[4], ARGV[5]

local m = redis.call('HMGET', part, 'run', 'stopped')
if m[2] or tonumber(m[1] or 0) >= run then return {'OK', 0} end
local total = tonumber(targets) or redis.call('ZCARD', users)

redis.call('HSET', part, 'run', int(run), 'cursor', '', 'total', int(total), 'delivered', '0', 'failed', '0', 'done',
  total == 0 and '1' or '0')
if total > 0 then
  task_enqueue(3, task_id, 'announce_page', payload, priority, 0, clock_ms(), '')
end
return {'OK', 1}
