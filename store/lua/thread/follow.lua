-- Has a member follow a thread, with all of it read, or not follow it any longer. A repeat changes nothing.
--
-- KEYS  last_id meta members joined msgs threads replies
-- ARGV  user root:int following:flag author below
--   author  of the root
--   below   if the root is in the archive: `<epoch> <late>` as it was read there, else ''
-- Returns {OK, replies, newest reply, unread, 1 if the user follows it, what they have read}
-- Refuses NOTFOUND, FORBIDDEN, CONFLICT (the archive has changed since: read again)
-- include: thread_reader
-- include: threads_change
local refused, oldest, visible = thread_reader()
if refused then return refused end
if root < visible then return {'NOTFOUND'} end
local newest = redis.call('ZSCORE', threads, int(root))
if not newest then
  local stored = redis.call('ZRANGEBYSCORE', msgs, int(root), int(root))[1]
  if stored and string.match(stored, '^%d+ %S+ (%S+)') == 'x' then return {'NOTFOUND'} end
  local epoch, late = unpack(redis.call('HMGET', meta, 'epoch', 'late'))
  if not stored and below ~= epoch .. ' ' .. (late or '0') then return {'CONFLICT'} end
  begin_thread(root, author)
  newest = 0
end
local at = redis.call('ZSCORE', threads, user .. ' ' .. int(root))
if following and not at then follow(user, root, math.max(root, tonumber(newest))) end
if not following and at then unfollow(user, root) end
return {'OK', thread_row(root, newest, oldest)}
