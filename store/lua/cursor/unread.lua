-- Moves a member's read back to just before a message; never forward, never below what the member may see.
--
-- KEYS  last_id meta members msgs seen read skip by joined quorums core:enqueue
-- ARGV  user id:int channel group
-- Returns {OK, seen, read, unread}
-- Refuses NOTFOUND, FORBIDDEN, OUTOFRANGE
-- include: not_member
-- include: unread
local epoch, visibility, backlog_max, pruned, history, archived_from, receipts, open_quorums =
  unpack(redis.call('HMGET', meta, 'epoch', 'visibility', 'backlog_max', 'floor', 'history', 'archived_from', 'receipts', 'quorums'))
if not epoch then return {'NOTFOUND'} end
if redis.call('HEXISTS', members, user) == 0 then return not_member(visibility) end
local last = tonumber(redis.call('GET', last_id))
if id > last then return {'OUTOFRANGE', 'id', 1, int(last)} end
local stored = redis.call('ZCARD', msgs)
local visible = archived_from and tonumber(archived_from) or last - stored + 1
local joined_id = history == '0' and redis.call('ZSCORE', joined, user)
if joined_id then visible = math.max(visible, tonumber(joined_id)) end
local s, r = redis.call('ZSCORE', seen, user), tonumber(redis.call('ZSCORE', read, user))
local back = math.max(id, visible) - 1

if back < r then
  redis.call('ZADD', read, 'XX', int(back), user)
  if open_quorums then
    -- include: quorum
    quorum_moved(user, r, back)
  end
  r = back
  -- include: cursor_word
  redis.call(PUBLISH, channel, cursor_word(receipts) .. ' ' .. user .. ' ' .. int(tonumber(s)) .. ' ' .. int(r))
end
return {'OK', s, int(r), unread(last, count_floor(last, stored, archived_from, r, tonumber(backlog_max), pruned, joined_id), skip, by)}
