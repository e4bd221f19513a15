-- Changes the role of a member, for an owner, an admin or an operator. Only the owner or an operator can name another
-- owner; the former owner then becomes an admin, so there is always exactly one.
--
-- KEYS  last_id meta members member_data mutes joined managers seen read msgs skip reactions reacted core:enqueue wants audit
-- ARGV  user caller operator:flag role at_ms mark rest channel task_id group audit_id audited audits_max:int
--   mark, rest  of the notice
--   audit_id, audited  what the audit gets of it
--   task_id     of a task that continues if there is more to trim
-- Returns {OK, 1 if changed, 0 if there was nothing to change, role, joined_at ms, seen, read, data (nil for none), muted until (nil for not muted)}
-- Refuses NOTFOUND, FORBIDDEN; OWNER if the group would have no owner
-- include: manage
-- include: audit
-- include: notice
-- include: log_grew
-- include: member_row
local epoch, visibility, owner, keep, backlog_max, muted =
  unpack(redis.call('HMGET', meta, 'epoch', 'visibility', 'owner', 'keep', 'backlog_max', 'muted'))
if not epoch then return {'NOTFOUND'} end
local refused = may_manage(visibility, caller, operator)
if refused then return refused end
local is = redis.call('HGET', members, user)
if not is then return {'NOTFOUND'} end
local before, joined_ms = string.match(is, '^(%S+) (%d+)$')
local function answer(changed)
  return {'OK', changed, unpack(member_row(user, role .. ' ' .. joined_ms, muted))}
end
if before == role then return answer(0) end
local as_owner = operator or caller == owner
if (role == 'owner' or before == 'owner') and not as_owner then return {'FORBIDDEN', 'owner'} end
if before == 'owner' then return {'OWNER'} end
local now_ms = clock_ms()

if role == 'owner' then
  local former = redis.call('HGET', members, owner)
  if former then redis.call('HSET', members, owner, 'admin ' .. string.match(former, '(%d+)$')) end
  redis.call('HSET', meta, 'owner', user)
end
redis.call('HSET', members, user, role .. ' ' .. joined_ms)
if role == 'member' then
  redis.call('ZREM', managers, user)
else
  redis.call('ZADD', managers, redis.call('ZSCORE', joined, user), user)
end
note_audit(epoch, audit_id, audited)
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
return answer(1)
