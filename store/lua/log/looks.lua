-- Reads how far a user is in logs, and where these end: enough to tell whether there is anything new. A script that
-- reads three keys a group costs twice as much, so it reads epochs and marks only where the caller compares positions
-- with them. Only reads.
--
-- KEYS  last_ids... cursors... metas...
-- ARGV  user groups:int activity:flag
--   last_ids  of all groups; if activity is set, their metas instead
--   cursors   the cursors of all members, seen or read
--   metas     of all groups, or none
-- Returns {OK, last (-1 if there is no group), cursor (-1 if not a member), ... for each group, then, if there are
--       metas, epoch (''), mark of the last entry (''), ... for each}; if activity is set {OK, active_ms, cursor, ...}
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
for i = 2 * groups + 1, #KEYS do
  local end_of = call('HMGET', KEYS[i], 'epoch', 'mark')
  out[2 * i - 2 * groups] = end_of[1] or ''
  out[2 * i - 2 * groups + 1] = end_of[2] or ''
end
return out
