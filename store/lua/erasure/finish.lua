-- Ends an erasure: the name is free for another person, who is not on the list of users unless they have joined a group or got an
-- inbox meanwhile. The record is forgotten by a task, once no group holds anything back.
--
-- KEYS  erasure erasing erasure_held groups inbox_base users unused last_seen core:enqueue
-- ARGV  erasure_id user keep_ms:int
--   keep_ms  how long the record is kept
-- Returns {OK}
-- include: base
-- include: task_erasure
if redis.call('EXISTS', erasure) == 0 then return {'OK'} end
local now_ms = clock_ms()

if redis.call('GET', erasing) == erasure_id then redis.call('UNLINK', erasing) end
if redis.call('HGET', erasure, 'state') ~= 'done' then
  redis.call('ZREM', last_seen, user)
  if redis.call('EXISTS', groups, inbox_base) == 0 then
    redis.call('ZREM', users, user)
    redis.call('SREM', unused, user)
  end
end
redis.call('HSET', erasure, 'state', 'done', 'phase', '', 'cursor', '')
if redis.call('EXISTS', erasure_held) == 0 then enqueue_erasure_end(now_ms + keep_ms, now_ms) end
return {'OK'}
