-- Enqueues the task that removes what is too old in a group, due now, unless messages stay for ever or one waits already.
--
-- KEYS  meta retention core:enqueue
-- ARGV  group task_id
-- Returns {OK, days (0: for ever)}
-- Refuses NOTFOUND
-- include: base
-- include: retention
-- include: task_retain
local epoch = redis.call('HGET', meta, 'epoch')
if not epoch then return {'NOTFOUND'} end
local days, now_ms = days_of_group(), clock_ms()

if days > 0 then enqueue_retain(task_id, epoch, days, 0, now_ms) end
return {'OK', int(days)}
