-- Ends the legal hold on a group, if there is one. What erasures could not erase in it becomes a task.
--
-- KEYS  meta erasures core:enqueue
-- ARGV  group task_id
-- Returns {OK, 1 where there was one}
-- Refuses NOTFOUND
-- include: base
-- include: task_erase_held
local epoch, hold = unpack(redis.call('HMGET', meta, 'epoch', 'hold'))
if not epoch then return {'NOTFOUND'} end
if not hold then return {'OK', 0} end

redis.call('HDEL', meta, 'hold', 'hold_by', 'hold_ms')
if redis.call('EXISTS', erasures) == 1 then enqueue_erase_held(task_id, epoch, clock_ms()) end
return {'OK', 1}
