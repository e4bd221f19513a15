-- Lets a user in who asked to join, or does not: an owner, an admin or an operator decides.
--
-- KEYS  last_id meta members requests asked joined managers seen read msgs skip reactions reacted core:enqueue wants audit
-- ARGV  user caller operator:flag accept:flag at_ms mark rest members_max:int channel task_id group trim_id audit_id audited audits_max:int
--   mark, rest  of the notice
--   audit_id, audited  what the audit gets of it
--   trim_id     of a task that continues if there is more to trim
-- Returns {OK}
-- Refuses NOTFOUND, FORBIDDEN, TOOMANY
-- include: manage
-- include: audit
-- include: requests
local epoch, visibility, history, keep, backlog_max, has_asked =
  unpack(redis.call('HMGET', meta, 'epoch', 'visibility', 'history', 'keep', 'backlog_max', 'asked'))
-- include: join
if not epoch then return {'NOTFOUND'} end
local refused = may_manage(visibility, caller, operator)
if refused then return refused end
local now_ms = clock_ms()
local at = asked_at(user, now_ms)
if not at or redis.call('HEXISTS', members, user) == 1 then return {'NOTFOUND'} end
if not accept then
  note_audit(epoch, audit_id, audited)
  drop_request(has_asked, user)
  enqueue_member(task_id, epoch, int(at), caller, 'declined', {user}, at_ms, now_ms)
  return {'OK'}
end
if redis.call('HLEN', members) >= members_max then return {'TOOMANY'} end

note_audit(epoch, audit_id, audited)
join(caller, 'member', 'accepted', now_ms)
return {'OK'}
