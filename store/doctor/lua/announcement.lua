-- Reads an announcement, whether it is listed, and whether the task of its next run exists. Only reads.
--
-- KEYS  announcement announcements tasks dead
-- ARGV  id
-- Returns {OK, its state ('' if there is none), run, next_ms, closed, total, delivered, failed, priority, draft, the id of the
--       task of its next run, 1 if that exists, 1 if it is dead, 1 if the announcement is listed}
local record = redis.call('HMGET', announcement, 'state', 'run', 'next_ms', 'closed', 'total', 'delivered', 'failed', 'priority', 'draft',
  'task')
local out, task = {'OK'}, record[10] or ''
for i = 1, 10 do out[i + 1] = record[i] or '' end
out[12] = redis.call('HEXISTS', tasks, task)
out[13] = redis.call('ZSCORE', dead, task) and 1 or 0
out[14] = redis.call('ZSCORE', announcements, id) and 1 or 0
return out
