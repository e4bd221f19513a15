-- include: not_member
-- include: threads
-- needs: last_id meta members joined msgs user
-- thread_reader tells which ids a member may read: the lowest one, and whether that is because history is hidden. It returns a refusal
-- for one who is no member.
local function thread_reader()
  local epoch, visibility, history, archived_from = unpack(redis.call('HMGET', meta, 'epoch', 'visibility', 'history', 'archived_from'))
  if not epoch then return {'NOTFOUND'} end
  if redis.call('HEXISTS', members, user) == 0 then return not_member(visibility) end
  local oldest = tonumber(archived_from or redis.call('GET', last_id) - redis.call('ZCARD', msgs) + 1)
  local since = history == '0' and tonumber(redis.call('ZSCORE', joined, user)) or 0
  return nil, oldest, math.max(oldest, since)
end

-- thread_row describes a thread as a user sees it: {replies, newest, unread, 1 if they follow it, what they have read}.
local function thread_row(root, newest, oldest)
  newest = tonumber(newest or 0)
  local at = redis.call('ZSCORE', threads, user .. ' ' .. int(root))
  local count = newest >= oldest and newest > 0 and count_replies(root, oldest - 1) or 0
  if count == 0 then newest = 0 end
  local unread = at and newest > 0 and unread_replies(user, root, newest, tonumber(at), oldest) or 0
  return count, int(newest), unread, at and 1 or 0, at and int(tonumber(at)) or '0'
end
