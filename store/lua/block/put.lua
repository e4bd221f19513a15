-- Blocks someone for a user, and enqueues the task that has the direct group of the two know it. Blocking again changes nothing.
--
-- KEYS  blocks inbox_base core:enqueue
-- ARGV  user other blocks_max:int task_id
--   other       whom the user blocks
--   blocks_max  whom a user blocks at a time
-- Returns {OK, 1 if it is new, since when in ms}
-- Refuses BLOCKSFULL
-- include: base
-- include: task_block
local since_ms = redis.call('ZSCORE', blocks, other)
if since_ms then return {'OK', 0, since_ms} end
if redis.call('ZCARD', blocks) >= blocks_max then return {'BLOCKSFULL'} end

-- Each time stands once, so that it is the position in the list.
local now_ms, newest = clock_ms(), redis.call('ZRANGE', blocks, -1, -1, 'WITHSCORES')[2]
since_ms = int(math.max(now_ms, tonumber(newest or 0) + 1))
redis.call('ZADD', blocks, since_ms, other)
redis.call('HSET', inbox_base, 'blocks', '1')
enqueue_block(task_id, user, other, now_ms)
return {'OK', 1, since_ms}
