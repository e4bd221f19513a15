-- include: core.lua
-- include: entry.lua
-- include: trim.lua
-- Changes the role of a member, for an owner, an admin or an operator. Only the owner or an operator makes another the
-- owner; the former owner is an admin then, so that there is always exactly one.
--
-- KEYS  core
-- ARGV  1 user, 2 by, 3 '1' where by is an operator, 4 role, 5 at ms, 6 mark, 7 rest of the notice, 8 channel,
--       9 id for a task, 10 group
-- Returns {OK, 1 changed or 0 nothing to change, role, joined_at ms, seen, read}
-- Refuses NOTFOUND, FORBIDDEN; OWNER where the group would be left without one
local k = core()
local user, by, operator, role, at_ms, mark, rest = ARGV[1], ARGV[2], ARGV[3] == '1', ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local channel, task_id, group = ARGV[8], ARGV[9], ARGV[10]

local m = redis.call('HMGET', k.meta, 'epoch', 'visibility', 'owner', 'keep', 'backlog_max')
if not m[1] then return {'NOTFOUND'} end
local refused = may_manage(k, m[2], by, operator)
if refused then return refused end
local is = redis.call('HGET', k.members, user)
if not is then return {'NOTFOUND'} end
local before, joined_ms = string.match(is, '^(%S+) (%d+)$')
local function answer(changed)
  return {'OK', changed, role, joined_ms, redis.call('ZSCORE', k.seen, user), redis.call('ZSCORE', k.read, user)}
end
if before == role then return answer(0) end
local as_owner = operator or by == m[3]
if (role == 'owner' or before == 'owner') and not as_owner then return {'FORBIDDEN'} end
if before == 'owner' then return {'OWNER'} end

if role == 'owner' then
  local owner = redis.call('HGET', k.members, m[3])
  if owner then redis.call('HSET', k.members, m[3], 'admin ' .. string.match(owner, '(%d+)$')) end
  redis.call('HSET', k.meta, 'owner', user)
end
redis.call('HSET', k.members, user, role .. ' ' .. joined_ms)
if role == 'member' then
  redis.call('ZREM', k.managers, user)
else
  redis.call('ZADD', k.managers, redis.call('ZSCORE', k.joined, user), user)
end
local id = notice(k, channel, m[1], mark, rest, at_ms)
advance(k.seen, k.read, by, id)
log_grew(k, group, m[1], id, clock_ms())
if sweep(k, tonumber(id), tonumber(m[4]), tonumber(m[5])) then
  task_enqueue(k.qk, task_id, 'trim', '{"group":"' .. group .. '","epoch":"' .. m[1] .. '"}', 'low', 0, clock_ms(),
    'trim:' .. group)
end
return answer(1)
