-- include: int.lua
-- include: counts.lua
-- Moves a member's read back to just before a message; never forward, never below what the member may see.
--
-- KEYS  1 id, 2 meta, 3 members, 4 msgs, 5 seen, 6 read, 7 skip, 8 by:<user>, 9 joined
-- ARGV  1 user, 2 id, 3 channel
-- Returns {OK, seen, read, unread}
-- Refuses NOTFOUND, FORBIDDEN, OUTOFRANGE
local id_key, meta, members, msgs, seen, read, skip, by = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7],
  KEYS[8]
local joined = KEYS[9]
local user, id, channel = ARGV[1], tonumber(ARGV[2]), ARGV[3]

local m = redis.call('HMGET', meta, 'epoch', 'visibility', 'backlog_max', 'floor', 'history')
if not m[1] then return {'NOTFOUND'} end
if redis.call('HEXISTS', members, user) == 0 then return {m[2] == 'public' and 'FORBIDDEN' or 'NOTFOUND'} end
local last = tonumber(redis.call('GET', id_key))
if id > last then return {'OUTOFRANGE'} end
local stored = redis.call('ZCARD', msgs)
local visible = last - stored + 1
local joined_id = m[5] == '0' and redis.call('ZSCORE', joined, user)
if joined_id then visible = math.max(visible, tonumber(joined_id)) end
local s, r = redis.call('ZSCORE', seen, user), tonumber(redis.call('ZSCORE', read, user))
local back = math.max(id, visible) - 1

if back < r then
  redis.call('ZADD', read, 'XX', int(back), user)
  r = back
  redis.call('PUBLISH', channel, 'c ' .. user .. ' ' .. int(tonumber(s)) .. ' ' .. int(r))
end
return {'OK', s, int(r), unread(last, count_floor(last, stored, r, tonumber(m[3]), m[4], joined_id), skip, by)}
