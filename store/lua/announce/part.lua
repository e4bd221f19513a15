-- Starts the part of an announcement in one partition, with the task of its pages. A part keeps the number of its
-- newest run as long as the announcement is kept, so that no run starts twice, however late a worker asks for it.
--
-- KEYS  part users core:enqueue
-- ARGV  run:int named priority task_id payload
--   named  targets in this partition; '': all users
-- Returns {OK, 1 if it was started now, else 0}
-- include: base
-- include: task_announce
local newest, stopped = unpack(redis.call('HMGET', part, 'run', 'stopped'))
if stopped or tonumber(newest or 0) >= run then return {'OK', 0} end
local total = tonumber(named) or redis.call('ZCARD', users)

redis.call('HSET', part, 'run', int(run), 'cursor', '', 'total', int(total), 'delivered', '0', 'failed', '0', 'done',
  total == 0 and '1' or '0')
redis.call('HDEL', part, 'before')
if total > 0 then enqueue_part(task_id, payload, priority, clock_ms()) end
return {'OK', 1}
