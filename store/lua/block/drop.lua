-- Ends that a user blocks someone, and enqueues the task that has the direct group of the two know it.
--
-- KEYS  blocks inbox_base core:enqueue
-- ARGV  user other task_id
-- Returns {OK, 1 if it was so}
-- include: base
-- include: task_block
if redis.call('ZREM', blocks, other) == 0 then return {'OK', 0} end
if redis.call('EXISTS', blocks) == 0 then redis.call('HDEL', inbox_base, 'blocks') end
enqueue_block(task_id, user, other, clock_ms())
return {'OK', 1}
