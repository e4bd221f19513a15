-- Moves a member's cursors forward, never back, and trims what that frees.
--
-- KEYS  last_id meta members msgs seen read skip by reactions reacted joined files_named quorums core:enqueue wants
-- ARGV  user id with_read:flag at_epoch at_mark channel group task_id origin
--   with_read          moves read too
--   at_epoch, at_mark  of a cursor, else ''
--   task_id            of a task that continues if there is more to trim
--   origin             the session that acts, or empty: the signal names it
-- Returns {OK, seen, read, unread}
-- Refuses NOTFOUND, FORBIDDEN, OUTOFRANGE; ARCHIVED if the mark has to be compared with the archive's; CONFLICT for a
--         cursor of another log, or of one that lost its end
-- include: not_member
-- include: unread
local epoch, visibility, keep, backlog_max, pruned, history, last_mark, archived_from, trimmed, named_bytes, receipts, open_quorums = unpack(
  redis.call('HMGET', meta, 'epoch', 'visibility', 'keep', 'backlog_max', 'floor', 'history', 'mark', 'archived_from', 'trimmed', 'named_bytes',
    'receipts', 'quorums'))
if not epoch then return {'NOTFOUND'} end
if redis.call('HEXISTS', members, user) == 0 then return not_member(visibility) end
local last = tonumber(redis.call('GET', last_id))
if at_epoch ~= '' and (at_epoch ~= epoch or tonumber(id) > last) then return {'CONFLICT'} end
if tonumber(id) > last then return {'OUTOFRANGE', 'id', 0, int(last)} end
if at_mark ~= '' and at_mark ~= '-' then
  local mark = last_mark
  if tonumber(id) < last then
    local stored = redis.call('ZRANGEBYSCORE', msgs, id, id)[1]
    mark = stored and string.match(stored, '^%d+ (%S+)') or trimmed and string.match(trimmed, '^' .. id .. ' (%S+)')
  end
  if not mark and archived_from and tonumber(id) >= tonumber(archived_from) then return {'ARCHIVED'} end
  -- A mark below `trimmed` that is not archived cannot be compared.
  if mark and mark ~= at_mark then return {'CONFLICT'} end
end

-- XX: a late ack does not bring back a user who has left. GT: of two devices, the one ahead counts.
local before = open_quorums and with_read and redis.call('ZSCORE', read, user)
local changed = redis.call('ZADD', seen, 'XX', 'GT', 'CH', id, user)
if with_read then changed = changed + redis.call('ZADD', read, 'XX', 'GT', 'CH', id, user) end
local s, r = tonumber(redis.call('ZSCORE', seen, user)), tonumber(redis.call('ZSCORE', read, user))
if changed > 0 then
  -- include: cursor_word
  local signal = cursor_word(receipts) .. ' ' .. user .. ' ' .. int(s) .. ' ' .. int(r)
  if origin ~= '' then signal = signal .. ' ' .. origin end
  redis.call(PUBLISH, channel, signal)
  if before and tonumber(before) < r then
    -- include: quorum
    quorum_moved(user, tonumber(before), r)
  end
end

-- Even if nothing moved: the member's own sends may have brought the cursor here, and they do not trim every time.
local stored = redis.call('ZCARD', msgs)
keep, backlog_max = tonumber(keep), tonumber(backlog_max)
if stored > keep then
  -- include: trim
  if trim_log(last, stored, keep, backlog_max) then
    -- include: task_trim
    enqueue_trim(task_id, epoch, clock_ms())
  end
  stored = redis.call('ZCARD', msgs)
  if named_bytes then
    -- include: file_trimmed
    enqueue_file_trimmed(task_id .. '.files', last, archived_from, clock_ms())
  end
end
local joined_id = history == '0' and redis.call('ZSCORE', joined, user)
return {'OK', int(s), int(r), unread(last, count_floor(last, stored, archived_from, r, backlog_max, pruned, joined_id), skip, by)}
