-- Adds a member: the user themself in a public group, or an owner, an admin or an operator.
--
-- KEYS  last_id meta members member_data mutes bans requests asked joined managers seen read msgs skip reactions reacted core:enqueue wants audit
-- ARGV  user caller operator:flag role at_ms mark rest members_max:int channel task_id group trim_id audit_id audited audits_max:int
--   mark, rest  of the notice
--   audit_id, audited  what the audit gets of the role of an admin
--   trim_id     of a task that continues if there is more to trim
-- Returns {OK, 1 if added, 0 if a member already, role, joined_at ms, seen, read, data (nil for none), muted until (nil for not muted)}
-- Refuses NOTFOUND, FORBIDDEN, TOOMANY, BANNED until ms, ISBANNED for somebody else
-- include: manage
-- include: audit
-- include: banned
-- include: member_row
local epoch, visibility, history, keep, backlog_max, muted, banned, joining, has_asked = unpack(redis.call('HMGET', meta,
  'epoch', 'visibility', 'history', 'keep', 'backlog_max', 'muted', 'banned', 'join', 'asked'))
-- include: join
if not epoch then return {'NOTFOUND'} end
local is = redis.call('HGET', members, user)
local manager = operator
if caller == user then
  if not is and visibility ~= 'public' and not operator then return not_member(visibility) end
else
  local refused = may_manage(visibility, caller, operator)
  if refused then return refused end
  manager = true
end
if is then
  return {'OK', 0, unpack(member_row(user, is, muted))}
end
local ends = banned_until(banned, user)
if ends then return caller == user and {'BANNED', ends} or {'ISBANNED'} end
if caller == user and not operator and joining and joining ~= 'open' then return {'FORBIDDEN', 'join_' .. joining} end
if redis.call('HLEN', members) >= members_max then return {'TOOMANY'} end
if not manager then role = 'member' end

local start = join(caller, role, 'joined', clock_ms())
if role == 'admin' then note_audit(epoch, audit_id, audited) end
return {'OK', 1, role, at_ms, start, start, false, muted and redis.call('ZSCORE', mutes, user)}
