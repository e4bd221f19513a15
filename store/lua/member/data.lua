-- Changes the custom fields of a member, for an owner, an admin or an operator, if they are still as they were read.
--
-- KEYS  last_id meta members member_data mutes joined seen read msgs skip reactions reacted core:enqueue wants
-- ARGV  user caller operator:flag was data at_ms mark rest channel task_id group
--   was, data   an object, or '' for none
--   mark, rest  of the notice
--   task_id     of a task that continues if there is more to trim
-- Returns {OK, role, joined_at ms, seen, read, data (nil for none), muted until (nil for not muted)}
-- Refuses NOTFOUND, FORBIDDEN, CONFLICT
-- include: manage
-- include: notice
-- include: log_grew
-- include: member_row
local epoch, visibility, keep, backlog_max, muted = unpack(redis.call('HMGET', meta, 'epoch', 'visibility', 'keep', 'backlog_max', 'muted'))
if not epoch then return {'NOTFOUND'} end
local refused = may_manage(visibility, caller, operator)
if refused then return refused end
local is = redis.call('HGET', members, user)
if not is then return {'NOTFOUND'} end
local has = redis.call('HGET', member_data, user) or ''
if has == data then return {'OK', unpack(member_row(user, is, muted))} end
if has ~= was then return {'CONFLICT'} end
local now_ms = clock_ms()

if data == '' then redis.call('HDEL', member_data, user) else redis.call('HSET', member_data, user, data) end
local id = notice(epoch, mark, rest, at_ms)
advance(caller, id)
log_grew(epoch, id, now_ms)
local last = tonumber(id)
keep, backlog_max = tonumber(keep), tonumber(backlog_max)
-- include: trim_64th
if more then
  -- include: task_trim
  enqueue_trim(task_id, epoch, now_ms)
end
return {'OK', unpack(member_row(user, is, muted))}
