-- Unpins a message, with a notice. Of one that is not pinned it changes nothing.
--
-- KEYS  last_id meta members mutes msgs seen read skip reactions reacted core:enqueue wants pins pinned
-- ARGV  caller operator:flag group target at_ms mark rest channel task_id
--   at_ms, mark, rest  of the notice
--   task_id            of a task that continues if there is more to trim
-- Returns {OK, 1 if it was pinned}
-- Refuses NOTFOUND, FORBIDDEN, BLOCKS, MUTED
-- include: may_pin
-- include: pins
-- include: notice
-- include: log_grew
local epoch, visibility, who, post, direct, muted, keep, backlog_max = unpack(redis.call('HMGET', meta,
  'epoch', 'visibility', 'pins', 'post', 'direct', 'muted', 'keep', 'backlog_max'))
if not epoch then return {'NOTFOUND'} end
local refused = may_pin(visibility, who, post, direct, muted, caller, operator)
if refused then return refused end
if redis.call('HEXISTS', pins, target) == 0 then return {'OK', 0} end
local now_ms = clock_ms()

local id = notice(epoch, mark, rest, at_ms)
drop_pin(target)
advance(caller, id)
log_grew(epoch, id, now_ms)
local last = tonumber(id)
keep, backlog_max = tonumber(keep), tonumber(backlog_max)
-- include: trim_64th
if more then
  -- include: task_trim
  enqueue_trim(task_id, epoch, now_ms)
end
return {'OK', 1}
