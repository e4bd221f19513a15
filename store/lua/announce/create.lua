-- include: int.lua
-- include: task_enqueue.lua
-- Makes an announcement with the lists of whom it is for, and the task that starts it.
--
-- KEYS  1 announcement, 2 announcements, 3..10 of the core queue, then a list of targets for each partition that has some
-- ARGV  1 id, 2 what does not change of it, 3 when to start in ms (0: now), 4 priority, 5 announcements at most, 6 targets
--       in all ('': everyone), 7 users of a page, 8 id for the task, 9 its payload, then of each list how many targets and
--       these
-- Returns {OK, 1 made now, 0 where it was made before}
-- Refuses ANNOUNCEMENTS
local record, index = KEYS[1], KEYS[2]
local id, draft, due_ms, priority, most = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4], tonumber(ARGV[5])
local targets, page, task_id, payload = ARGV[6], ARGV[7], ARGV[8], ARGV[9]

if redis.call('EXISTS', record) == 1 then return {'OK', 0} end
if redis.call('ZCARD', index) >= most then return {'ANNOUNCEMENTS'} end
local now_ms = clock_ms()
if due_ms == 0 then due_ms = now_ms end
-- The place in the index is the cursor of the list, so no two share one.
local highest = redis.call('ZREVRANGE', index, 0, 0, 'WITHSCORES')[2]
local place = highest and math.max(now_ms, tonumber(highest) + 1) or now_ms

redis.call('HSET', record, 'draft', draft, 'state', 'pending', 'run', '0', 'next_ms', int(due_ms), 'created_ms', int(now_ms),
  'priority', priority, 'targets', targets, 'page', page, 'task', task_id, 'closed', '1', 'total', targets == '' and '0' or targets,
  'delivered', '0', 'failed', '0')
redis.call('ZADD', index, int(place), id)
local at = 10
for i = 11, #KEYS do
  local last = at + tonumber(ARGV[at])
  -- Not all at once: what a function of Lua takes is bounded.
  for from = at + 1, last, 500 do redis.call('RPUSH', KEYS[i], unpack(ARGV, from, math.min(from + 499, last))) end
  at = last + 1
end
task_enqueue(3, task_id, 'announce', payload, priority, due_ms, now_ms, '')
return {'OK', 1}
