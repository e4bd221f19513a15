-- Removes the files of a group that expired, some of them in a step, and enqueues the task for those that are left.
--
-- KEYS  meta files unused_files files_of core:enqueue
-- ARGV  group limit:int task_id
-- Returns {OK, how many were removed}
-- include: file_remove
local now_ms = clock_ms()
local due = redis.call('ZRANGEBYSCORE', unused_files, '-inf', int(now_ms), 'LIMIT', 0, limit)

for _, id in ipairs(due) do
  local f = file_read(id)
  if f and f.refs == '-' then file_remove(id, f, now_ms) else redis.call('ZREM', unused_files, id) end
end
local next = redis.call('ZRANGE', unused_files, 0, 0, 'WITHSCORES')
if next[2] then enqueue_file_expire(task_id, tonumber(next[2]), now_ms) end
return {'OK', #due}
