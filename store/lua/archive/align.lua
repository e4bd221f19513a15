-- Brings a group in line with whether there is an archive. If there is, a task archives what it lacks of the group. If not, the
-- archiver leaves the group, which trims what only it held back.
--
-- KEYS  last_id meta seen msgs reactions reacted wants core:enqueue
-- ARGV  group task_id
--   task_id  of a task that archives, or that continues if there is more to trim
-- Returns {OK}
-- Refuses NOTFOUND
-- include: trim
-- include: task_trim
-- include: task_archive
local epoch, keep, backlog_max = unpack(redis.call('HMGET', meta, 'epoch', 'keep', 'backlog_max'))
if not epoch then return {'NOTFOUND'} end
local last, now_ms = tonumber(redis.call('GET', last_id)), clock_ms()
if redis.call('HEXISTS', wants, 'archive') == 1 then
  if redis.call('ZSCORE', seen, '$archive') ~= int(last) then enqueue_archive(task_id, epoch, 0, now_ms) end
elseif redis.call('ZREM', seen, '$archive') == 1 then
  redis.call('HDEL', meta, 'archived_from', 'late', 'changed')
  if trim_log(last, redis.call('ZCARD', msgs), tonumber(keep), tonumber(backlog_max)) then enqueue_trim(task_id, epoch, now_ms) end
end
return {'OK'}
