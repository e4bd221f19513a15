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
-- include: entry
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

-- Everyone with the notice of joining, many in one call: one by one, a thousand members take the server 14 ms.
local users = {creator}
for i = invited, invited + others - 1 do users[#users + 1] = ARGV[i] end
local position, newest = invited + others, nil
for first = 1, #users, 200 do
  local entries, skipped, roles, joins, starts = {}, {}, {}, {}, {}
  for id = first, math.min(first + 199, #users) do
    -- bind: notices at position
    local user, text, n = users[id], int(id), #joins
    newest = entry_text(text, mark, 'x', rest)
    entries[n + 1], entries[n + 2] = text, newest
    skipped[n + 1], skipped[n + 2] = text, text
    roles[n + 1], roles[n + 2] = user, (id == 1 and 'owner ' or 'member ') .. created_ms
    joins[n + 1], joins[n + 2] = text, user
    -- Where the history is hidden a member begins with the notice of joining.
    starts[n + 1], starts[n + 2] = history == '1' and '0' or int(id - 1), user
    if id == #users then redis.call('HSET', meta, 'mark', mark) end
    position = position + notices_row
  end
  redis.call('ZADD', msgs, unpack(entries))
  redis.call('ZADD', skip, unpack(skipped))
  redis.call('HSET', members, unpack(roles))
  redis.call('ZADD', joined, unpack(joins))
  redis.call('ZADD', seen, unpack(starts))
  redis.call('ZADD', read, unpack(starts))
end
redis.call('INCRBY', last_id, int(#users))
redis.call('ZADD', managers, '1', creator)
-- Whoever still follows an earlier group of this id sees by the last entry that it is another log, and reads it.
publish_entry(epoch, newest)

if visibility == 'public' then redis.call('ZADD', public, 0, public_member(name, group)) end
log_grew(epoch, int(1 + others), now_ms, false, 1)
enqueue_member(task_id, epoch, '1', creator, 'joined', users, created_ms, now_ms)
return {'OK', 1}
