-- Adds users as members, with one notice for all: an owner, an admin or an operator does.
--
-- KEYS  last_id meta members bans requests asked joined managers seen read msgs skip reactions reacted core:enqueue wants audit
-- ARGV  caller operator:flag at_ms mark head tail members_max:int channel task_id group trim_id audits_max:int users(user role audit_id audited)...
--   mark, head, tail  of the notice, before and after whom it concerns
--   audit_id, audited  what the audit gets of the role of a user; '': nothing
--   trim_id           of a task that continues if there is more to trim
-- Returns {OK, epoch, id after which the new members start, id of the notice or 0 if nobody was added, then of each user the
--         role before, '' for one who was added, full if there was no room, banned}
-- Refuses NOTFOUND, FORBIDDEN
-- include: manage
-- include: audit
-- include: banned
-- include: asked
-- include: add_members
-- include: notice_users
-- include: log_grew
-- include: task_member
local epoch, visibility, history, keep, backlog_max, banned, has_asked =
  unpack(redis.call('HMGET', meta, 'epoch', 'visibility', 'history', 'keep', 'backlog_max', 'banned', 'asked'))
if not epoch then return {'NOTFOUND'} end
local refused = may_manage(visibility, caller, operator)
if refused then return refused end
local room, out = members_max - redis.call('HLEN', members), {'OK', epoch, '0', '0'}
local invited, granted = {mark = mark, users = {}, roles = {}}, {}
for i = users, #ARGV, users_row do
  -- bind: users at i
  local before, n = role_of(user), #invited.users
  if not before then
    before = banned_until(banned, user) and 'banned' or n < room and '' or 'full'
    if before == '' then
      invited.users[n + 1], invited.roles[n + 1] = user, role
      if audited ~= '' then granted[#granted + 1] = {audit_id, audited} end
    end
  end
  out[#out + 1] = before
end
if #invited.users == 0 then return out end
local last, stored, now_ms = tonumber(redis.call('GET', last_id)), redis.call('ZCARD', msgs), clock_ms()

invited.rest = head .. notice_users(invited.users) .. tail
out[3] = history == '1' and int(last - stored) or int(last)
last = add_members(epoch, history, out[3], at_ms, {invited})
local id = int(last)
out[4] = id
for i, user in ipairs(invited.users) do
  drop_request(has_asked, user)
  if invited.roles[i] == 'admin' then redis.call('ZADD', managers, id, user) end
end
for _, entry in ipairs(granted) do note_audit(epoch, entry[1], entry[2]) end
advance(caller, id)
log_grew(epoch, id, now_ms)
enqueue_member(task_id, epoch, id, caller, 'joined', invited.users, at_ms, now_ms)
keep, backlog_max = tonumber(keep), tonumber(backlog_max)
-- include: trim_64th
if more then
  -- include: task_trim
  enqueue_trim(trim_id, epoch, now_ms)
end
return out
