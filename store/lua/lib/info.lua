-- include: unread
-- include: mentions_above
-- info_of returns what a user may know about a group, as group/infos.lua lists it; just '' if there is no group. by and at
-- are of the user, at_all is at of `@all`; data says whether that is read.
local function info_of(user, last_id, meta, members, joined, seen, read, msgs, skip, by, at, at_all, mutes, threads_of, replies_of, data)
  local out = redis.call('HMGET', meta, 'epoch', 'name', 'visibility', 'created_by', 'created_ms', 'keep', 'backlog_max',
    'post', 'history', 'active_ms', 'newest', 'mark', 'floor', 'archived_from', 'late', 'changed', 'trimmed',
    'retain_days', 'overflow', 'backlog_bytes', 'direct', 'version', data and 'data' or '-',
    'slow_s', 'muted', 'join', 'pins', 'mention_all', 'alls', 'expire_s', 'receipts', 'threads')
  if not out[1] then return {''} end
  local has_threads = out[32]
  -- Groups made before these settings existed have neither.
  out[19], out[20] = out[19] or 'drop', out[20] or '1073741824'
  local archived_from, last, stored = out[14], redis.call('GET', last_id), redis.call('ZCARD', msgs)
  out[32], out[33], out[34] = last, stored, redis.call('HLEN', members)
  -- archived_from exists while there is an archive: without one, no more lookups.
  out[35] = archived_from and redis.call('ZSCORE', seen, '$archive')
  local member = redis.call('HGET', members, user)
  if not member then return out end

  last = tonumber(last)
  local joined_id, r = redis.call('ZSCORE', joined, user), redis.call('ZSCORE', read, user)
  local floor = count_floor(last, stored, archived_from, tonumber(r), tonumber(out[7]), out[13], out[9] == '0' and joined_id)
  out[36], out[37] = string.match(member, '^(%S+) (%d+)$')
  out[38], out[39], out[40] = joined_id, redis.call('ZSCORE', seen, user), r
  if floor < last then
    out[41], out[42] = unread(last, floor, skip, by), mentions_above(floor, at, out[29] and at_all, joined_id)
  else
    out[41], out[42] = 0, 0
  end
  local acted = tonumber(out[39]) >= tonumber(joined_id) or out[4] == user or redis.call('EXISTS', by) == 1
  out[43] = acted and 1 or 0
  out[44] = out[25] and redis.call('ZSCORE', mutes, user)
  if has_threads then
    local threads, replies = threads_of, replies_of
    -- include: threads
    -- Whom a reply mentions follows its thread, also one whose root they do not see.
    local visible = out[9] == '0' and tonumber(joined_id) or 0
    out[45] = unread_threads(user, math.max(visible, tonumber(archived_from or last - stored + 1)))
  end
  return out
end
