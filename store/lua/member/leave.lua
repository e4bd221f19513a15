-- include: core.lua
-- include: entry.lua
-- include: trim.lua
-- include: gone.lua
-- Takes a member out: by their own step, or by an owner, an admin or an operator. An owner is succeeded by the
-- longest-standing admin, else member; the last one out deletes the group.
--
-- KEYS  core, then at:<user>
-- ARGV  1 user, 2 by, 3 '1' where by is an operator, 4 at ms, 5 mark, 6 rest of the notice, 7 mark, 8 head and 9 tail of
--       the notice of role around the successor, 10 channel, 11 and 12 ids for tasks, 13 group, 14 left or removed
-- Returns {OK, 1 where the group is gone}
-- Refuses NOTFOUND, FORBIDDEN
local k = core()
local at = KEYS[core_count + 1]
local user, by, operator, at_ms, mark, rest = ARGV[1], ARGV[2], ARGV[3] == '1', ARGV[4], ARGV[5], ARGV[6]
local heir_mark, heir_head, heir_tail, channel, task_id, trim_id = ARGV[7], ARGV[8], ARGV[9], ARGV[10], ARGV[11], ARGV[12]
local group, what = ARGV[13], ARGV[14]

local m = redis.call('HMGET', k.meta, 'epoch', 'visibility', 'owner', 'keep', 'backlog_max')
if not m[1] then return {'NOTFOUND'} end
if by ~= user then
  local refused = may_manage(k, m[2], by, operator)
  if refused then return refused end
end
if not role_of(k, user) then return {'NOTFOUND'} end
if by ~= user and user == m[3] and not operator then return {'FORBIDDEN'} end
local now_ms = clock_ms()

if redis.call('HLEN', k.members) == 1 then
  redis.call('UNLINK', at)
  remove_group(k, group, channel, task_id, now_ms, by)
  return {'OK', 1}
end

redis.call('HDEL', k.members, user)
redis.call('ZREM', k.joined, user)
redis.call('ZREM', k.managers, user)
redis.call('ZREM', k.seen, user)
redis.call('ZREM', k.read, user)
redis.call('HDEL', k.levels, user)
redis.call('ZREM', k.told, user)
redis.call('UNLINK', at)
local id = notice(k, channel, m[1], mark, rest, at_ms)
advance(k.seen, k.read, by, id)
local last = tonumber(id)
if user == m[3] then
  local heir = redis.call('ZRANGE', k.managers, 0, 0)[1] or redis.call('ZRANGE', k.joined, 0, 0)[1]
  redis.call('HSET', k.members, heir, 'owner ' .. string.match(redis.call('HGET', k.members, heir), '(%d+)$'))
  redis.call('ZADD', k.managers, redis.call('ZSCORE', k.joined, heir), heir)
  redis.call('HSET', k.meta, 'owner', heir)
  last = tonumber(notice(k, channel, m[1], heir_mark, heir_head .. heir .. heir_tail, at_ms))
  advance(k.seen, k.read, by, int(last))
end
task_enqueue(k.qk, task_id, 'member', '{"group":"' .. group .. '","epoch":"' .. m[1] .. '","id":' .. id .. ',"by":"' ..
  by .. '","what":"' .. what .. '","users":["' .. user .. '"],"at_ms":' .. at_ms .. '}', 'high', 0, now_ms, '')
log_grew(k, group, m[1], int(last), now_ms, false, id)
prune(k.skip, last - tonumber(m[5]))
if trim_step(k, last, tonumber(m[4]), tonumber(m[5])) then
  task_enqueue(k.qk, trim_id, 'trim', '{"group":"' .. group .. '","epoch":"' .. m[1] .. '"}', 'low', 0, now_ms,
    'trim:' .. group)
end
return {'OK', 0}
