-- Removes messages that no reader of a group needs any longer, at most 500, and prunes the counted sets.
--
-- KEYS  last_id meta seen msgs reactions reacted skip files_named core:enqueue wants
-- ARGV  group task_id files_id
--   task_id   of a task that continues if there is more, or ''
--   files_id  of a task that removes the files of trimmed messages
-- Returns {OK, 1 if there is more}
-- Refuses NOTFOUND
-- include: prune
-- include: trim
local epoch, keep, backlog_max, archived_from = unpack(redis.call('HMGET', meta, 'epoch', 'keep', 'backlog_max', 'archived_from'))
if not epoch then return {'NOTFOUND'} end
local last, stored = tonumber(redis.call('GET', last_id)), redis.call('ZCARD', msgs)
backlog_max = tonumber(backlog_max)
local now_ms = clock_ms()

-- Counts of reactions beyond the bound of an earlier step.
local old = redis.call('ZCOUNT', reactions, '-inf', int(last - stored))
if old > 0 then redis.call('ZREMRANGEBYRANK', reactions, 0, int(math.min(old, 500) - 1)) end
local more = trim_log(last, stored, tonumber(keep), backlog_max) or old > 500
prune(skip, last - backlog_max)
if more and task_id ~= '' then
  -- include: task_trim
  enqueue_trim(task_id, epoch, now_ms)
end
if not more then
  -- include: file_trimmed
  enqueue_file_trimmed(files_id, last, archived_from, now_ms)
end
return {'OK', more and 1 or 0}
