-- Creates an announcement with the lists of its targets, and the task that starts it.
--
-- KEYS  announcement announcements core:enqueue targets...
-- ARGV  id draft due_ms:int priority announcements_max:int named page task_id payload lists...
--   draft             what never changes of it
--   due_ms            when to start; 0: now
--   named             total of named targets; '': everyone
--   page              users of a page
--   task_id, payload  of the task that starts it
--   targets           a list for each partition that has some
--   lists             for each list how many targets, and these
-- Returns {OK, 1 if it was created now, 0 if it existed already}
-- Refuses ANNOUNCEMENTS
-- include: base
-- include: task_announce
if redis.call('EXISTS', announcement) == 1 then return {'OK', 0} end
if redis.call('ZCARD', announcements) >= announcements_max then return {'ANNOUNCEMENTS'} end
local now_ms = clock_ms()
if due_ms == 0 then due_ms = now_ms end
-- The position in the index is the cursor of the list, so no two announcements share one.
local highest = redis.call('ZREVRANGE', announcements, 0, 0, 'WITHSCORES')[2]
local position = highest and math.max(now_ms, tonumber(highest) + 1) or now_ms

redis.call('HSET', announcement, 'draft', draft, 'state', 'pending', 'run', '0', 'next_ms', int(due_ms), 'created_ms', int(now_ms),
  'priority', priority, 'targets', named, 'page', page, 'task', task_id, 'closed', '1', 'total', named == '' and '0' or named,
  'delivered', '0', 'failed', '0')
redis.call('ZADD', announcements, int(position), id)
local count = lists
for i = targets, #KEYS do
  local last = count + tonumber(ARGV[count])
  -- In parts, because a Lua call takes a limited number of arguments.
  for from = count + 1, last, 500 do redis.call('RPUSH', KEYS[i], unpack(ARGV, from, math.min(from + 499, last))) end
  count = last + 1
end
enqueue_run(task_id, payload, priority, due_ms, now_ms)
return {'OK', 1}
