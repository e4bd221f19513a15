-- Keeps a user out of a group until a time, and removes a member in the same step: an owner, an admin or an operator does.
--
-- KEYS  last_id meta members member_data joined managers seen read msgs skip reactions reacted core:enqueue wants levels notified
--       waiting bans banned requests asked files files_unused files_named gone_files threads replies quorums audit at
-- ARGV  user caller operator:flag via until_ms:int reason hours:int at_ms bans_max:int mark rest ban_mark ban_rest channel task_id
--       trim_id purge_id group audit_id audited audits_max:int
--   at                  of the user
--   until_ms            0: no end
--   hours               whose messages of theirs a task deletes; 0: none
--   bans_max            users who are banned
--   mark, rest          of the notice of the removal
--   ban_mark, ban_rest  of the notice of the ban
--   trim_id             of a task that continues if there is more to trim
--   purge_id            of the one that deletes
--   audit_id, audited   what the audit gets of it
-- Returns {OK, 1 if the user was not banned before, 1 if they were a member, the ban as in list}
-- Refuses NOTFOUND, FORBIDDEN, BANS; LAST for the only member
-- include: manage
-- include: drop_member
-- include: asked
-- include: audit
-- include: notice
-- include: log_grew
-- include: prune
-- include: trim
-- include: task_member
-- include: task_purge
-- include: task_trim
-- include: file_trimmed
local epoch, visibility, keep, backlog_max, archived_from, has_asked, open_quorums =
  unpack(redis.call('HMGET', meta, 'epoch', 'visibility', 'keep', 'backlog_max', 'archived_from', 'asked', 'quorums'))
if not epoch then return {'NOTFOUND'} end
local refused = may_manage(visibility, caller, operator)
if refused then return refused end
local role = role_of(user)
if role == 'owner' or role == 'admin' and not operator and role_of(caller) ~= 'owner' then return {'FORBIDDEN', 'rank'} end
if role and redis.call('HLEN', members) == 1 then return {'LAST'} end
local now_ms, has = clock_ms(), redis.call('HGET', bans, user)
if has and not role then
  local ends, why = string.match(has, '^(%d+) %d+ %S* (.*)$')
  if ends == int(until_ms) and why == reason then
    if hours > 0 then
      note_audit(epoch, audit_id, audited)
      enqueue_purge(purge_id, epoch, user, caller, via, hours, redis.call('GET', last_id), now_ms)
    end
    return {'OK', 0, 0, has}
  end
end

-- Some that are over make room.
local over, oldest = {}, redis.call('ZRANGE', banned, 0, 99)
for i, ban in ipairs(#oldest > 0 and redis.call('HMGET', bans, unpack(oldest)) or {}) do
  local ends = tonumber(string.match(ban or '0', '^%d+'))
  if ends > 0 and ends <= now_ms and oldest[i] ~= user then over[#over + 1] = oldest[i] end
end
if not has and redis.call('ZCARD', banned) - #over >= bans_max then return {'BANS'} end
if #over > 0 then
  redis.call('HDEL', bans, unpack(over))
  redis.call('ZREM', banned, unpack(over))
end
local ban = int(until_ms) .. ' ' .. at_ms .. ' ' .. caller .. ' ' .. reason
redis.call('HSET', bans, user, ban)
redis.call('ZADD', banned, at_ms, user)
redis.call('HSET', meta, 'banned', '1')
redis.call('ZREM', waiting, user)
drop_request(has_asked, user)
local first
if role then
  if open_quorums then
    -- include: quorum
    quorum_left({user})
  end
  drop_member(user)
  first = notice(epoch, mark, rest, at_ms)
  advance(caller, first)
  enqueue_member(task_id, epoch, first, caller, 'removed', {user}, at_ms, now_ms)
end
note_audit(epoch, audit_id, audited)
local id = notice(epoch, ban_mark, ban_rest, at_ms)
advance(caller, id)
local last = tonumber(id)
log_grew(epoch, id, now_ms, false, first or id)
prune(skip, last - tonumber(backlog_max))
if trim_log(last, redis.call('ZCARD', msgs), tonumber(keep), tonumber(backlog_max)) then
  enqueue_trim(trim_id, epoch, now_ms)
end
if hours > 0 then enqueue_purge(purge_id, epoch, user, caller, via, hours, id, now_ms) end
if role then enqueue_file_trimmed(trim_id .. '.files', last, archived_from, now_ms) end
return {'OK', has and 0 or 1, role and 1 or 0, ban}
