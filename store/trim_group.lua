-- include: trim.lua
-- Removes what no reader of a group needs any longer, at most 500 messages, and prunes what is only counted.
--
-- KEYS  1 id, 2 meta, 3 seen, 4 msgs, 5 reactions, 6 reacted, 7 skip
-- Returns {OK, 1 where there is more}
-- Refuses NOTFOUND
local id_key, meta, seen, msgs, reactions, reacted, skip = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]

local m = redis.call('HMGET', meta, 'epoch', 'keep', 'backlog_max')
if not m[1] then return {'NOTFOUND'} end
local last, backlog_max = tonumber(redis.call('GET', id_key)), tonumber(m[3])
local more = trim_step({seen = seen, msgs = msgs, reactions = reactions, reacted = reacted}, last, tonumber(m[2]),
  backlog_max)
prune(skip, last - backlog_max)
return {'OK', more and 1 or 0}
