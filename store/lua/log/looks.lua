-- Reads how far a user is in logs, and where these end: enough to tell whether there is anything new. Only reads.
--
-- KEYS  groups(last_id meta seen read)...
-- ARGV  user
-- Returns {OK, last (-1 if there is no group), epoch (''), mark of the last entry, seen (-1 if not a member), read, ...
--       for each}
local out, n = {'OK'}, 1
for i = groups, #KEYS, groups_row do
  -- bind: groups at i
  local m = redis.call('HMGET', meta, 'epoch', 'mark')
  local epoch, at = m[1], redis.call('ZSCORE', seen, user)
  out[n + 1] = epoch and redis.call('GET', last_id) or '-1'
  out[n + 2] = epoch or ''
  out[n + 3] = m[2] or ''
  out[n + 4] = at or '-1'
  out[n + 5] = at and redis.call('ZSCORE', read, user) or '0'
  n = n + 5
end
return out
