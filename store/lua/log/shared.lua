-- Reads one page of a log for many users, each as log/pages.lua would answer them: what is the same for all is read once.
-- Only reads.
--
-- KEYS  last_id meta members joined seen read msgs skip bys...
-- ARGV  from:int count:int bytes_max:int counted:flag users...
--   bys    of each user
--   from   the lowest id of the page
--   count  maximum
--   bytes_max  of the page, about: the entry that exceeds it is among the last
--   counted    whether unread is asked for; it is 0 otherwise
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
    local unread, floor = 0, counted and count_floor(last, stored, group[5], tonumber(seen_by[i]), backlog_max, pruned, since[i]) or last
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
local page, bytes, at, turn = {}, 0, int(from), 24
while anybody and count > 0 and bytes < bytes_max do
  local asked = math.min(count, turn)
  local got = call('ZRANGEBYSCORE', msgs, at, '+inf', 'LIMIT', 0, asked)
  for i = 1, #got do
    page[#page + 1], bytes = got[i], bytes + #got[i]
  end
  if #got < asked then break end
  at, count = '(' .. string.match(got[asked], '^%d+'), count - asked
  -- As many as fit if they are as long as those so far; but a few long ones after short ones must not be many.
  turn = math.min(2 * turn, math.floor((bytes_max - bytes) * #page / bytes) + 1)
end
return {'OK', group, page, them}
