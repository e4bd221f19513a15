-- Adds a member: the user themself in a public group, or an owner, an admin or an operator.
--
-- KEYS  last_id meta members member_data mutes bans requests asked joined managers seen read msgs skip reactions reacted core:enqueue wants
-- ARGV  user caller operator:flag role at_ms mark rest members_max:int channel task_id group trim_id
--   mark, rest  of the notice
--   trim_id     of a task that continues if there is more to trim
-- Returns {OK, 1 if added, 0 if a member already, role, joined_at ms, seen, read, data (nil for none), muted until (nil for not muted)}
-- Refuses NOTFOUND, FORBIDDEN, TOOMANY, BANNED until ms, ISBANNED for somebody else
-- include: manage
-- include: banned
-- include: asked
-- include: join
-- include: log_grew
-- include: task_member
-- include: member_row
local epoch, visibility, history, keep, backlog_max, muted, banned, joining, has_asked = unpack(redis.call('HMGET', meta,
  'epoch', 'visibility', 'history', 'keep', 'backlog_max', 'muted', 'banned', 'join', 'asked'))
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
local now_ms = clock_ms()

local id, start = join(epoch, history, user, role, at_ms, mark, rest)
drop_request(has_asked, user)
if caller ~= user then advance(caller, id) end
log_grew(epoch, id, now_ms)
enqueue_member(task_id, epoch, id, caller, 'joined', {user}, at_ms, now_ms)
local last = tonumber(id)
keep, backlog_max = tonumber(keep), tonumber(backlog_max)
-- include: trim_64th
if more then
  -- include: task_trim
  enqueue_trim(trim_id, epoch, now_ms)
end
return {'OK', 1, role, at_ms, start, start, false, muted and redis.call('ZSCORE', mutes, user)}
