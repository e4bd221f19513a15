-- include: core.lua
-- include: entry.lua
-- include: trim.lua
-- Adds a member: as a step of their own in a public group, or by an owner, an admin or an operator.
--
-- KEYS  core
-- ARGV  1 user, 2 by, 3 '1' where by is an operator, 4 role, 5 at ms, 6 mark, 7 rest of the notice, 8 members at most,
--       9 channel, 10 id for a task, 11 group, 12 id for another task
-- Returns {OK, 1 added or 0 member already, role, joined_at ms, seen, read}
-- Refuses NOTFOUND, FORBIDDEN, TOOMANY
local k = core()
local user, by, operator, role, at_ms, mark, rest = ARGV[1], ARGV[2], ARGV[3] == '1', ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local members_max, channel, task_id, group, trim_id = tonumber(ARGV[8]), ARGV[9], ARGV[10], ARGV[11], ARGV[12]

local m = redis.call('HMGET', k.meta, 'epoch', 'visibility', 'history', 'keep', 'backlog_max')
if not m[1] then return {'NOTFOUND'} end
local is = redis.call('HGET', k.members, user)
local manager = operator
if by == user then
  if not is and m[2] ~= 'public' and not operator then return {'NOTFOUND'} end
else
  local refused = may_manage(k, m[2], by, operator)
  if refused then return refused end
  manager = true
end
if is then
  local has_role, since = string.match(is, '^(%S+) (%d+)$')
  return {'OK', 0, has_role, since, redis.call('ZSCORE', k.seen, user), redis.call('ZSCORE', k.read, user)}
end
if redis.call('HLEN', k.members) >= members_max then return {'TOOMANY'} end
if not manager then role = 'member' end
local last, stored = tonumber(redis.call('GET', k.id)), redis.call('ZCARD', k.msgs)

local id = notice(k, channel, m[1], mark, rest, at_ms)
-- With the history, from just before the lowest id that is stored; without it, from just before the notice.
local start = m[3] == '1' and int(last - stored) or int(last)
redis.call('HSET', k.members, user, role .. ' ' .. at_ms)
redis.call('ZADD', k.joined, id, user)
redis.call('ZADD', k.seen, start, user)
redis.call('ZADD', k.read, start, user)
if role == 'admin' then redis.call('ZADD', k.managers, id, user) end
if by ~= user then advance(k.seen, k.read, by, id) end
log_grew(k, group, m[1], id, clock_ms())
task_enqueue(k.qk, task_id, 'member', '{"group":"' .. group .. '","epoch":"' .. m[1] .. '","id":' .. id .. ',"by":"' ..
  by .. '","what":"joined","users":["' .. user .. '"],"at_ms":' .. at_ms .. '}', 'high', 0, clock_ms(), '')
if sweep(k, tonumber(id), tonumber(m[4]), tonumber(m[5])) then
  task_enqueue(k.qk, trim_id, 'trim', '{"group":"' .. group .. '","epoch":"' .. m[1] .. '"}', 'low', 0, clock_ms(),
    'trim:' .. group)
end
return {'OK', 1, role, at_ms, start, start}
