-- Removes a member: the user themself leaves, or an owner, an admin or an operator removes them. If the owner leaves,
-- the longest-standing admin, else member, becomes the owner; the last member who leaves deletes the group.
--
-- KEYS  last_id meta members member_data joined managers seen read msgs skip senders reactions reacted gone_members gone_senders public named
--       core:enqueue wants levels notified mutes slow expires bans banned requests asked invites invited reviews reviewed waiting files files_unused files_named gone_files reports reporters reported pins pinned streams streamed threads replies pressed here quorums audit at at_all
-- ARGV  user caller operator:flag at_ms mark rest heir_mark heir_head heir_tail channel task_id trim_id group what audit_id audited audited_gone audits_max:int
--   at                    of the user
--   mark, rest            of the notice
--   heir_mark             of the successor's notice of role
--   heir_head, heir_tail  of that notice, before and after the successor's name
--   trim_id               of a task that continues if there is more to trim
--   what                  left or removed
--   audit_id, audited     what the audit gets of a removal; audited_gone if the group goes
-- Returns {OK, 1 if the group is gone}
-- Refuses NOTFOUND, FORBIDDEN; HELD for the last member
-- include: manage
-- include: audit
-- include: drop_member
-- include: notice
-- include: log_grew
-- include: prune
-- include: trim
-- include: task_member
-- include: task_trim
-- include: file_trimmed
local epoch, visibility, owner, keep, backlog_max, archived_from, open_quorums =
  unpack(redis.call('HMGET', meta, 'epoch', 'visibility', 'owner', 'keep', 'backlog_max', 'archived_from', 'quorums'))
if not epoch then return {'NOTFOUND'} end
if caller ~= user then
  local refused = may_manage(visibility, caller, operator)
  if refused then return refused end
end
if not role_of(user) then return {'NOTFOUND'} end
if caller ~= user and user == owner and not operator then return {'FORBIDDEN', 'operators'} end
local now_ms = clock_ms()

if redis.call('HLEN', members) == 1 then
  -- include: remove_group
  -- include: hold
  local held = legal_hold()
  if held then return held end
  redis.call('UNLINK', at)
  note_audit(epoch, audit_id, audited_gone)
  remove_group(task_id, caller, now_ms)
  return {'OK', 1}
end

if open_quorums then
  -- include: quorum
  quorum_left({user})
end
drop_member(user)
if caller ~= user then note_audit(epoch, audit_id, audited) end
local id = notice(epoch, mark, rest, at_ms)
advance(caller, id)
local last = tonumber(id)
if user == owner then
  local heir = redis.call('ZRANGE', managers, 0, 0)[1] or redis.call('ZRANGE', joined, 0, 0)[1]
  redis.call('HSET', members, heir, 'owner ' .. string.match(redis.call('HGET', members, heir), '(%d+)$'))
  redis.call('ZADD', managers, redis.call('ZSCORE', joined, heir), heir)
  redis.call('HSET', meta, 'owner', heir)
  last = tonumber(notice(epoch, heir_mark, heir_head .. heir .. heir_tail, at_ms))
  advance(caller, int(last))
end
enqueue_member(task_id, epoch, id, caller, what, {user}, at_ms, now_ms)
log_grew(epoch, int(last), now_ms, false, id)
prune(skip, last - tonumber(backlog_max))
if trim_log(last, redis.call('ZCARD', msgs), tonumber(keep), tonumber(backlog_max)) then
  enqueue_trim(trim_id, epoch, now_ms)
end
enqueue_file_trimmed(trim_id .. '.files', last, archived_from, now_ms)
return {'OK', 0}
