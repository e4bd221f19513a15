-- Makes a group with its members and the notices of that.
--
-- KEYS  last_id meta members joined managers seen read msgs skip gone_members gone_senders public core:enqueue wants
-- ARGV  creator epoch name visibility created_ms keep backlog_max post history key channel task_id group others:int
--       invited... notices(mark rest)...
--   history  1 or 0
--   key      to repeat with, hashed, or ''
--   others   how many members there are besides the creator
--   invited  these
--   notices  of the creation, and of each of them
-- Returns {OK, 1 where it was made now, 0 where this very creation was done before}
-- Refuses EXISTS; GONE where the members of an earlier group of this id are not cleaned up yet
-- include: notice
-- include: log_grew
-- include: public
-- include: task_member
local has_epoch, has_key, has_creator = unpack(redis.call('HMGET', meta, 'epoch', 'key', 'created_by'))
if has_epoch then
  if key ~= '' and has_key == key and has_creator == creator then return {'OK', 0} end
  return {'EXISTS'}
end
if redis.call('EXISTS', gone_members, gone_senders) > 0 then return {'GONE'} end
local now_ms = clock_ms()

redis.call('HSET', meta, 'epoch', epoch, 'name', name, 'visibility', visibility, 'created_by', creator, 'created_ms',
  created_ms, 'keep', keep, 'backlog_max', backlog_max, 'post', post, 'history', history, 'key', key, 'active_ms',
  created_ms, 'newest', '0', 'owner', creator, 'floor', '0')

-- add makes a user a member, with the notice that begins at a position in ARGV.
local function add(user, role, position)
  -- bind: notices at position
  local id = notice(epoch, mark, rest, created_ms)
  -- Where the history is hidden a member begins with the notice of joining.
  local start = history == '1' and '0' or int(tonumber(id) - 1)
  redis.call('HSET', members, user, role .. ' ' .. created_ms)
  redis.call('ZADD', joined, id, user)
  redis.call('ZADD', seen, start, user)
  redis.call('ZADD', read, start, user)
end
local position, users = invited + others, {creator}
add(creator, 'owner', position)
redis.call('ZADD', managers, '1', creator)
for i = invited, invited + others - 1 do
  position = position + notices_row
  add(ARGV[i], 'member', position)
  users[#users + 1] = ARGV[i]
end

if visibility == 'public' then redis.call('ZADD', public, 0, public_member(name, group)) end
log_grew(epoch, int(1 + others), now_ms, false, 1)
enqueue_member(task_id, epoch, '1', creator, 'joined', users, created_ms, now_ms)
return {'OK', 1}
