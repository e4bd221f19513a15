-- Reads how far a user is in logs, and where these end: enough to tell whether there is anything new. A script that
-- reads three keys a group costs twice as much, so it reads epochs and marks only where the caller compares positions
-- with them. Only reads.
--
-- KEYS  last_ids... cursors... metas... replies_of...
-- ARGV  user groups:int activity:flag followed:flag
--   last_ids  of all groups; if activity is set, their metas instead
--   cursors   the cursors of all members, seen or read
--   metas     of all groups, or none
--   followed  whether the user follows threads: replies_of of all groups are there, and no metas
-- Returns {OK, last (-1 if there is no group), cursor (-1 if not a member), ... for each group, then, if there are
--       metas, epoch (''), mark of the last entry (''), ... for each; or if any of the groups has threads 1 for
--       each in which the user follows any, else 0}; if activity is set {OK, active_ms, cursor, ...}
local call, out = redis.call, {'OK'}
if activity then
  for i = 1, groups do
    out[2 * i] = call('HGET', KEYS[i], 'active_ms') or ''
    out[2 * i + 1] = call('ZSCORE', KEYS[groups + i], user) or '-1'
  end
  return out
end
local lasts = call('MGET', unpack(KEYS, last_ids, groups))
for i = 1, groups do
  out[2 * i] = lasts[i] or '-1'
  out[2 * i + 1] = call('ZSCORE', KEYS[groups + i], user) or '-1'
end
if followed then
  local first = 2 * groups + 1
  if call('EXISTS', unpack(KEYS, first)) == 0 then return out end
  for i = first, #KEYS do
    out[#out + 1] = call('ZLEXCOUNT', KEYS[i], '[f' .. user .. ' ', '(f' .. user .. '!') > 0 and 1 or 0
  end
  return out
end
for i = 2 * groups + 1, #KEYS do
  local end_of = call('HMGET', KEYS[i], 'epoch', 'mark')
  out[2 * i - 2 * groups] = end_of[1] or ''
  out[2 * i - 2 * groups + 1] = end_of[2] or ''
end
return out
