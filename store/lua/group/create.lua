-- Creates a group with its members and their notices.
--
-- KEYS  last_id meta members joined managers seen read msgs skip gone_members gone_senders public core:enqueue
--       wants waiting retention gone_files named mutes
-- ARGV  creator owner direct epoch name folded visibility created_ms keep backlog_max overflow backlog_bytes post history
--       retain_days slow_s:int expire_s:int receipting join pinning mention_all data key channel task_id
--       retain_id group others:int now:int per:int invited... notices(mark rest)...
--   direct   the two users of a direct group, separated by a blank, of whom neither owns it; or ''
--   history  1 or 0
--   retain_id  of a task that removes what is too old
--   folded   the name, folded
--   slow_s   seconds between messages of a member, 0: none
--   expire_s    seconds after which messages go, 0: never
--   receipting  what receipts say; a group without the field has optional
--   join     who may add themself; '' by visibility
--   pinning  who may pin; '': who manages, in a direct group both
--   mention_all  who may mention all; a group without the field has managers
--   data     an object, or ''
--   key      to repeat with, hashed, or ''
--   owner    the creator, who becomes a member; '' where a program makes the group, which has no owner then
--   others   how many members there are besides the owner
--   now      how many of these become members in this step; the others wait for group/invite.lua
--   per      how many of them a notice names
--   invited  all of them
--   notices  of the creation, and of joining for those who become members now
-- Returns {OK, 1 if it was created now, 0 if this same creation was done before}
-- Refuses EXISTS; GONE if the members or files of an earlier group with this id are not cleaned up yet
-- include: add_members
-- include: notice
-- include: log_grew
-- include: public
-- include: named
-- include: task_member
-- include: retention
-- include: task_retain
local has_epoch, has_key, has_creator, has_direct = unpack(redis.call('HMGET', meta, 'epoch', 'key', 'created_by', 'direct'))
if has_epoch then
  if direct ~= '' and has_direct == direct then return {'OK', 0} end
  if key ~= '' and has_key == key and has_creator == creator then return {'OK', 0} end
  return {'EXISTS'}
end
if redis.call('EXISTS', gone_members, gone_senders, gone_files) > 0 then return {'GONE'} end
local now_ms = clock_ms()

redis.call('HSET', meta, 'epoch', epoch, 'name', name, 'visibility', visibility, 'created_by', creator, 'created_ms',
  created_ms, 'keep', keep, 'backlog_max', backlog_max, 'overflow', overflow, 'backlog_bytes',
  backlog_bytes, 'post', post, 'history', history, 'retain_days',
  retain_days, 'key', key, 'active_ms', created_ms, 'newest', '0', 'owner',
  direct == '' and owner or '', 'floor', '0', 'folded', folded)
if direct ~= '' then
  redis.call('HSET', meta, 'direct', direct)
  if redis.call('EXISTS', mutes) == 1 then redis.call('HSET', meta, 'muted', '1') end -- one blocks the other
end
if slow_s > 0 then redis.call('HSET', meta, 'slow_s', int(slow_s)) end
if expire_s > 0 then redis.call('HSET', meta, 'expire_s', int(expire_s)) end
if receipting ~= '' and receipting ~= 'optional' then redis.call('HSET', meta, 'receipts', receipting) end
if join ~= '' then redis.call('HSET', meta, 'join', join) end
if pinning ~= '' then redis.call('HSET', meta, 'pins', pinning) end
if mention_all ~= '' and mention_all ~= 'managers' then redis.call('HSET', meta, 'mention_all', mention_all) end
if data ~= '' then redis.call('HSET', meta, 'data', data) end

local position, first = invited + others, {}
for i = invited - per, invited + now - 1, per do
  -- bind: notices at position
  position = position + notices_row
  if i >= invited then
    local some, roles = {unpack(ARGV, i, math.min(i + per, invited + now) - 1)}, {}
    for j = 1, #some do roles[j] = 'member' end
    first[#first + 1] = {mark = mark, rest = rest, users = some, roles = roles}
  elseif owner ~= '' then
    first[1] = {mark = mark, rest = rest, users = {owner}, roles = {direct == '' and 'owner' or 'member'}}
  else
    notice(epoch, mark, rest, created_ms)
  end
end
if #first > 0 then add_members(epoch, history, '0', created_ms, first) end
local users, later = {}, {}
if owner ~= '' then
  if direct == '' then redis.call('ZADD', managers, '1', owner) end
  users[1] = owner
end
for i = invited, invited + others - 1 do
  users[#users + 1] = ARGV[i]
  if i >= invited + now then later[#later + 1], later[#later + 2] = '0', ARGV[i] end
end
if #later > 0 then redis.call('ZADD', waiting, unpack(later)) end

list_group(folded)
if visibility == 'public' then redis.call('ZADD', public, 0, public_member(name, group)) end
log_grew(epoch, int(1 + math.ceil(now / per)), now_ms, false, 1)
enqueue_member(task_id, epoch, '1', creator, 'joined', users, created_ms, now_ms)
local days = days_of_group()
if days > 0 then enqueue_retain(retain_id, epoch, days, now_ms + math.min(days, 30) * 86400000, now_ms) end
return {'OK', 1}
