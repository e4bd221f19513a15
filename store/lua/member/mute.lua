-- Mutes a member until a time, or lets them write again, for an owner, an admin or an operator. A mute outlives leaving.
--
-- KEYS  last_id meta members member_data mutes joined seen read msgs skip reactions reacted core:enqueue wants audit
-- ARGV  user caller operator:flag until_ms:int at_ms mark rest mutes_max:int channel task_id group audit_id audited audits_max:int
--   until_ms    0: not muted
--   mark, rest  of the notice
--   mutes_max   members who are muted at a time
--   audit_id, audited  what the audit gets of it
--   task_id     of a task that continues if there is more to trim
-- Returns {OK, role, joined_at ms, seen, read, data (nil for none), muted until (nil for not muted)}
-- Refuses NOTFOUND, FORBIDDEN, MUTES
-- include: manage
-- include: audit
-- include: notice
-- include: log_grew
-- include: member_row
-- include: blocked
local epoch, visibility, keep, backlog_max = unpack(redis.call('HMGET', meta, 'epoch', 'visibility', 'keep', 'backlog_max'))
if not epoch then return {'NOTFOUND'} end
local refused = may_manage(visibility, caller, operator)
if refused then return refused end
local is = redis.call('HGET', members, user)
if not is then return {'NOTFOUND'} end
local role = string.match(is, '^%S+')
if role == 'owner' and until_ms > 0 or role == 'admin' and not operator and role_of(caller) ~= 'owner' then return {'FORBIDDEN', 'rank'} end
local now_ms, was = clock_ms(), tonumber(redis.call('ZSCORE', mutes, user) or 0)
if was == until_ms or was <= now_ms and until_ms == 0 or is_blocked(was) then return {'OK', unpack(member_row(user, is, until_ms > 0))} end
if was == 0 and redis.call('ZCOUNT', mutes, int(now_ms), '+inf') >= mutes_max then return {'MUTES'} end

local over = redis.call('ZRANGEBYSCORE', mutes, '-inf', int(now_ms), 'LIMIT', 0, 100)
if #over > 0 then redis.call('ZREM', mutes, unpack(over)) end
if until_ms > 0 then
  redis.call('ZADD', mutes, int(until_ms), user)
  redis.call('HSET', meta, 'muted', '1')
else
  redis.call('ZREM', mutes, user)
  if redis.call('EXISTS', mutes) == 0 then redis.call('HDEL', meta, 'muted') end
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
return {'OK', unpack(member_row(user, is, until_ms > 0))}
