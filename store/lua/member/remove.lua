-- Removes members, with one notice for all: an owner, an admin or an operator does. The owner and the last member are left
-- for member/leave.lua.
--
-- KEYS  last_id meta members member_data joined managers seen read msgs skip reactions reacted core:enqueue wants levels notified
--       files files_unused files_named gone_files threads replies quorums audit at...
-- ARGV  caller operator:flag at_ms mark head tail channel task_id trim_id group audits_max:int users(user audit_id audited)...
--   at                of each user
--   mark, head, tail  of the notice, before and after whom it concerns
--   audit_id, audited  what the audit gets of the removal of a user
--   trim_id           of a task that continues if there is more to trim
-- Returns {OK, then of each user: 1 if removed, 0 if no member, 2 if left}
-- Refuses NOTFOUND, FORBIDDEN
-- include: manage
-- include: audit
-- include: notice
-- include: notice_users
-- include: log_grew
-- include: prune
-- include: trim
-- include: task_member
-- include: task_trim
-- include: file_trimmed
-- include: threads_change
local epoch, visibility, owner, keep, backlog_max, archived_from, open_quorums =
  unpack(redis.call('HMGET', meta, 'epoch', 'visibility', 'owner', 'keep', 'backlog_max', 'archived_from', 'quorums'))
if not epoch then return {'NOTFOUND'} end
local refused = may_manage(visibility, caller, operator)
if refused then return refused end
local staying, out, gone = redis.call('HLEN', members), {'OK'}, {}
for i = users, #ARGV, users_row do
  -- bind: users at i
  local what = 0
  if role_of(user) then
    what = (user == owner or staying == 1) and 2 or 1
    if what == 1 then gone[#gone + 1], staying = user, staying - 1 end
  end
  out[#out + 1] = what
end
if #gone == 0 then return out end
local now_ms = clock_ms()

if open_quorums then
  -- include: quorum
  quorum_left(gone)
end
redis.call('HDEL', members, unpack(gone))
redis.call('ZREM', joined, unpack(gone))
redis.call('ZREM', managers, unpack(gone))
redis.call('ZREM', seen, unpack(gone))
redis.call('ZREM', read, unpack(gone))
redis.call('HDEL', levels, unpack(gone))
redis.call('HDEL', member_data, unpack(gone))
redis.call('ZREM', notified, unpack(gone))
for _, user in ipairs(redis.call('EXISTS', threads) == 1 and gone or {}) do leave_threads(user) end
local n = 0
for i = users, #ARGV, users_row do
  -- bind: users at i
  if out[2 + n] == 1 then
    redis.call('UNLINK', KEYS[at + n])
    note_audit(epoch, audit_id, audited)
  end
  n = n + 1
end
local id = notice(epoch, mark, head .. notice_users(gone) .. tail, at_ms)
advance(caller, id)
enqueue_member(task_id, epoch, id, caller, 'removed', gone, at_ms, now_ms)
log_grew(epoch, id, now_ms)
local last = tonumber(id)
prune(skip, last - tonumber(backlog_max))
if trim_log(last, redis.call('ZCARD', msgs), tonumber(keep), tonumber(backlog_max)) then
  enqueue_trim(trim_id, epoch, now_ms)
end
enqueue_file_trimmed(trim_id .. '.files', last, archived_from, now_ms)
return out
