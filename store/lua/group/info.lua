-- include: int.lua
-- include: counts.lua
-- Reads a group as one user stands to it. Only reads.
--
-- KEYS  1 id, 2 meta, 3 members, 4 joined, 5 seen, 6 read, 7 msgs, 8 skip, 9 by:<user>, 10 at:<user>
-- ARGV  1 user
-- Returns {OK, epoch ('' where there is no group), name, visibility, created_by, created_ms, keep, backlog_max, post,
--       history, active_ms, newest, mark, last, messages stored, members, role, joined_at ms, joined, seen, read, unread,
--       mentions unread}; the last seven only for a member
local id_key, meta, members, joined, seen, read, msgs = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local skip, by, at = KEYS[8], KEYS[9], KEYS[10]
local user = ARGV[1]

local m = redis.call('HMGET', meta, 'epoch', 'name', 'visibility', 'created_by', 'created_ms', 'keep', 'backlog_max',
  'post', 'history', 'active_ms', 'newest', 'mark', 'floor')
if not m[1] then return {'OK', ''} end
local last = tonumber(redis.call('GET', id_key))
local out = {'OK'}
for i = 1, 12 do out[#out + 1] = m[i] end
out[#out + 1] = last
local stored = redis.call('ZCARD', msgs)
out[#out + 1] = stored
out[#out + 1] = redis.call('HLEN', members)
local member = redis.call('HGET', members, user)
if not member then return out end

local role, joined_ms = string.match(member, '^(%S+) (%d+)$')
local r = tonumber(redis.call('ZSCORE', read, user))
local joined_id = redis.call('ZSCORE', joined, user)
local floor = count_floor(last, stored, r, tonumber(m[7]), m[13], m[9] == '0' and joined_id)
out[#out + 1] = role
out[#out + 1] = joined_ms
out[#out + 1] = joined_id
out[#out + 1] = redis.call('ZSCORE', seen, user)
out[#out + 1] = int(r)
out[#out + 1] = unread(last, floor, skip, by)
out[#out + 1] = redis.call('ZCOUNT', at, '(' .. int(floor), '+inf')
return out
