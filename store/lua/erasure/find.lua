-- Reads what a group has of a user, who need not be a member: traces besides the log, and the entries that may be theirs, from an
-- id on. It looks at limit entries at most, until they are bytes_max long together. Only reads.
--
-- KEYS  last_id meta members msgs senders bans requests invites reporters pins replies sent by at
-- ARGV  user from limit:int bytes_max:int
--   sent, by, at  of the user
-- Returns {OK, epoch, last, lowest id that is stored, lowest id in the archive or 0, late, 1 under a legal hold, members,
--       1 for a member, 1 if there are traces, id to go on from or 0, list of stored messages}
-- Refuses NOTFOUND
-- include: base
-- include: hold
-- include: invitation
local epoch, archived_from, late, has_asked, has_banned, has_pins =
  unpack(redis.call('HMGET', meta, 'epoch', 'archived_from', 'late', 'asked', 'banned', 'pinned'))
if not epoch then return {'NOTFOUND'} end
local last = tonumber(redis.call('GET', last_id))
local traces = redis.call('EXISTS', sent, by, at) > 0 or redis.call('ZSCORE', senders, user)
traces = traces or has_asked and redis.call('HEXISTS', requests, user) == 1
traces = traces or string.match(redis.call('HGET', bans, user) or '', '^%d+ %d+ %S* .') -- why somebody is banned goes, the ban stays
traces = traces or redis.call('ZLEXCOUNT', replies, '[f' .. user .. ' ', '(f' .. user .. '!') > 0
for _, ban in ipairs(has_banned and not traces and redis.call('HVALS', bans) or {}) do
  traces = traces or string.match(ban, '^%d+ %d+ (%S*)') == user
end
for _, record in ipairs(traces and {} or redis.call('HVALS', invites)) do
  traces = traces or invitation_of(record).by == user
end
for _, record in ipairs(traces and {} or redis.call('HVALS', reporters)) do
  local reporter, author = string.match(record, '^%S+ (%S+) (%S+)')
  traces = traces or reporter == user or author == user
end
for _, pin in ipairs(has_pins and not traces and redis.call('HVALS', pins) or {}) do
  local by_whom, author = string.match(pin, '^%d+ %d+ %d+ (%S*) (%S*)$')
  traces = traces or by_whom == user or author == user
end
local out = {'OK', epoch, int(last), int(last - redis.call('ZCARD', msgs) + 1), archived_from or '0', late or '0',
  legal_hold() and 1 or 0, redis.call('HLEN', members), redis.call('HEXISTS', members, user), traces and 1 or 0, 0, {}}
local author, read, bytes, at_id = '"from":"' .. user .. '"', 0, 0, from
while read < limit and bytes < bytes_max do
  local some = redis.call('ZRANGEBYSCORE', msgs, at_id, '+inf', 'LIMIT', 0, 10)
  for _, entry in ipairs(some) do
    bytes = bytes + #entry
    if string.find(entry, author, 1, true) then out[12][#out[12] + 1] = entry end
  end
  read = read + #some
  if #some < 10 then return out end
  at_id = int(tonumber(string.match(some[10], '^%d+')) + 1)
end
out[11] = at_id
return out
