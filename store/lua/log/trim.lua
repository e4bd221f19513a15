-- include: trim.lua
-- include: task_enqueue.lua
-- Removes what no reader of a group needs any longer, at most 500 messages, and prunes what is only counted.
--
-- KEYS  1 id, 2 meta, 3 seen, 4 msgs, 5 reactions, 6 reacted, 7 skip, 8..15 of the core queue, 16 wants
-- ARGV  1 group, 2 id for a task that goes on where there is more, or ''
-- Returns {OK, 1 where there is more}
-- Refuses NOTFOUND
local id_key, meta, seen, msgs, reactions, reacted, skip = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local group, task_id = ARGV[1], ARGV[2]

local m = redis.call('HMGET', meta, 'epoch', 'keep', 'backlog_max')
if not m[1] then return {'NOTFOUND'} end
local last, backlog_max = tonumber(redis.call('GET', id_key)), tonumber(m[3])
local now_ms = clock_ms()

-- Counts of reactions that were over the bound of an earlier step.
local old = redis.call('ZCOUNT', reactions, '-inf', int(last - redis.call('ZCARD', msgs)))
if old > 0 then redis.call('ZREMRANGEBYRANK', reactions, 0, int(math.min(old, 500) - 1)) end
local more = trim_step({seen = seen, msgs = msgs, reactions = reactions, reacted = reacted, meta = meta, wants = KEYS[16]}, last,
  tonumber(m[2]), backlog_max) or old > 500
prune(skip, last - backlog_max)
if more and task_id ~= '' then
  task_enqueue(8, task_id, 'trim', '{"group":"' .. group .. '","epoch":"' .. m[1] .. '"}', 'low', 0, now_ms,
    'trim:' .. group)
end
return {'OK', more and 1 or 0}
