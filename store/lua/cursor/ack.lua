-- include: int.lua
-- include: trim.lua
-- include: counts.lua
-- include: task_enqueue.lua
-- Moves a member's cursors forward, never back, and trims what that frees.
--
-- KEYS  1 id, 2 meta, 3 members, 4 msgs, 5 seen, 6 read, 7 skip, 8 by:<user>, 9 reactions, 10 reacted, 11 joined,
--       12..19 of the core queue, 20 wants
-- ARGV  1 user, 2 id, 3 '1' to move read too, 4 channel, 5 group, 6 id for a task
-- Returns {OK, seen, read, unread}
-- Refuses NOTFOUND, FORBIDDEN, OUTOFRANGE
local id_key, meta, members, msgs, seen, read, skip, by = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7],
  KEYS[8]
local reactions, reacted, joined = KEYS[9], KEYS[10], KEYS[11]
local user, id, with_read, channel, group, task_id = ARGV[1], ARGV[2], ARGV[3] == '1', ARGV[4], ARGV[5], ARGV[6]

local m = redis.call('HMGET', meta, 'epoch', 'visibility', 'keep', 'backlog_max', 'floor', 'history')
if not m[1] then return {'NOTFOUND'} end
if redis.call('HEXISTS', members, user) == 0 then return {m[2] == 'public' and 'FORBIDDEN' or 'NOTFOUND'} end
local last = tonumber(redis.call('GET', id_key))
if tonumber(id) > last then return {'OUTOFRANGE'} end

-- XX: a late ack brings nobody back who has left. GT: of two devices the one ahead counts.
local changed = redis.call('ZADD', seen, 'XX', 'GT', 'CH', id, user)
if with_read then changed = changed + redis.call('ZADD', read, 'XX', 'GT', 'CH', id, user) end
local s, r = tonumber(redis.call('ZSCORE', seen, user)), tonumber(redis.call('ZSCORE', read, user))
local backlog_max = tonumber(m[4])
if changed > 0 then redis.call('PUBLISH', channel, 'c ' .. user .. ' ' .. int(s) .. ' ' .. int(r)) end
-- Also where nothing moved: the member's own sends may have brought the cursor here, and they do not trim each time.
if trim_step({seen = seen, msgs = msgs, reactions = reactions, reacted = reacted, meta = meta, wants = KEYS[20]}, last,
  tonumber(m[3]), backlog_max) then
  task_enqueue(12, task_id, 'trim', '{"group":"' .. group .. '","epoch":"' .. m[1] .. '"}', 'low', 0, clock_ms(),
    'trim:' .. group)
end
local joined_id = m[6] == '0' and redis.call('ZSCORE', joined, user)
local floor = count_floor(last, redis.call('ZCARD', msgs), r, backlog_max, m[5], joined_id)
return {'OK', int(s), int(r), unread(last, floor, skip, by)}
