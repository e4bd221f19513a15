-- include: unread
-- info_of returns what a user may know about a group, as group/infos.lua lists it; just '' if there is no group. by and at
-- are of the user; data says whether that is read.
local function info_of(user, last_id, meta, members, joined, seen, read, msgs, skip, by, at, mutes, data)
  local out = redis.call('HMGET', meta, 'epoch', 'name', 'visibility', 'created_by', 'created_ms', 'keep', 'backlog_max',
    'post', 'history', 'active_ms', 'newest', 'mark', 'floor', 'archived_from', 'late', 'changed', 'trimmed',
    'retain_days', 'overflow', 'backlog_bytes', 'direct', 'version', data and 'data' or '-',
    'slow_s', 'muted', 'join', 'pins')
  if not out[1] then return {''} end
  -- Groups made before these settings existed have neither.
  out[19], out[20] = out[19] or 'drop', out[20] or '1073741824'
  local archived_from, last, stored = out[14], redis.call('GET', last_id), redis.call('ZCARD', msgs)
  out[28], out[29], out[30] = last, stored, redis.call('HLEN', members)
  -- archived_from exists while there is an archive: without one, no more lookups.
  out[31] = archived_from and redis.call('ZSCORE', seen, '$archive')
  local member = redis.call('HGET', members, user)
  if not member then return out end

  last = tonumber(last)
  local joined_id, r = redis.call('ZSCORE', joined, user), redis.call('ZSCORE', read, user)
  local floor = count_floor(last, stored, archived_from, tonumber(r), tonumber(out[7]), out[13], out[9] == '0' and joined_id)
  out[32], out[33] = string.match(member, '^(%S+) (%d+)$')
  out[34], out[35], out[36] = joined_id, redis.call('ZSCORE', seen, user), r
  if floor < last then
    out[37], out[38] = unread(last, floor, skip, by), redis.call('ZCOUNT', at, '(' .. int(floor), '+inf')
  else
    out[37], out[38] = 0, 0
  end
  local acted = tonumber(out[35]) >= tonumber(joined_id) or out[4] == user or redis.call('EXISTS', by) == 1
  out[39] = acted and 1 or 0
  out[40] = out[25] and redis.call('ZSCORE', mutes, user)
  return out
end
