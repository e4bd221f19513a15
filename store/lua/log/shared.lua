-- Reads one page of a log for many users, each as log/pages.lua would answer them: what is the same for all is read once.
-- Only reads.
--
-- KEYS  last_id meta members joined seen read msgs skip bys...
-- ARGV  from:int count:int users...
--   bys    of each user
--   from   the lowest id of the page
--   count  maximum
--   users  who asks
-- Returns {OK, the group, the page, those who ask}. The group is as in group/standings.lua; those who ask are {role, joined
--       (nil if history is not hidden), seen, read, unread, ... for each}, nil for one who is not a member. If none is, nothing
--       of the log is read
-- include: count_floor
local call, them, asking = redis.call, {}, #ARGV - users + 1
local group = call('HMGET', meta, 'epoch', 'visibility', 'history', 'mark', 'archived_from', 'late', 'changed', 'trimmed',
  'backlog_max', 'floor')
if not group[1] then return {'OK', {''}, {}, {}} end
local last_text, stored, backlog_max, pruned = call('GET', last_id), call('ZCARD', msgs), tonumber(group[9]), group[10]
local last = tonumber(last_text)
group[9], group[10], group[11] = last_text, stored, call('HLEN', members)
-- archived_from exists while there is an archive.
group[12] = group[5] and call('ZSCORE', seen, '$archive')
local roles = call('HMGET', members, unpack(ARGV, users))
local since = group[3] == '0' and call('ZMSCORE', joined, unpack(ARGV, users)) or {}
local acked = call('ZMSCORE', seen, unpack(ARGV, users))
local seen_by = call('ZMSCORE', read, unpack(ARGV, users))
local anybody, skipped = false, {}
for i = 1, asking do
  local at = 5 * i - 4
  if roles[i] then
    anybody = true
    local floor = count_floor(last, stored, group[5], tonumber(seen_by[i]), backlog_max, pruned, since[i])
    local unread = 0
    if floor < last then
      local above = '(' .. int(floor)
      skipped[floor] = skipped[floor] or call('ZCOUNT', skip, above, '+inf')
      unread = last - floor - skipped[floor] - call('ZCOUNT', KEYS[bys + i - 1], above, '+inf')
    end
    them[at], them[at + 1], them[at + 2] = string.match(roles[i], '^%S+'), since[i] or false, acked[i]
    them[at + 3], them[at + 4] = seen_by[i], unread
  else
    for j = at, at + 4 do them[j] = false end
  end
end
return {'OK', group, anybody and call('ZRANGEBYSCORE', msgs, int(from), '+inf', 'LIMIT', 0, count) or {}, them}
