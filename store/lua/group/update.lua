-- include: core.lua
-- include: entry.lua
-- include: trim.lua
-- Changes name and settings, for an owner, an admin or an operator, and appends the notices of it.
--
-- KEYS  core
-- ARGV  1 by, 2 '1' where by is an operator, 3 channel, 4 id for a task, 5 group, 6 at ms, 7 how many notices, then mark
--       and rest of each, then field and value of each change
-- Returns {OK, 1 changed or 0 nothing to change}
-- Refuses NOTFOUND, FORBIDDEN
local k = core()
local by, operator, channel, task_id, group, at_ms = ARGV[1], ARGV[2] == '1', ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local notices = tonumber(ARGV[7])

local m = redis.call('HMGET', k.meta, 'epoch', 'visibility', 'name', 'keep', 'backlog_max', 'floor')
if not m[1] then return {'NOTFOUND'} end
local refused = may_manage(k, m[2], by, operator)
if refused then return refused end
local fields, new = {}, {visibility = m[2], name = m[3], keep = m[4], backlog_max = m[5]}
for i = 8 + 2 * notices, #ARGV, 2 do
  if redis.call('HGET', k.meta, ARGV[i]) ~= ARGV[i + 1] then
    fields[#fields + 1] = ARGV[i]
    fields[#fields + 1] = ARGV[i + 1]
    new[ARGV[i]] = ARGV[i + 1]
  end
end
if #fields == 0 then return {'OK', 0} end
local before = tonumber(redis.call('GET', k.id))

redis.call('HSET', k.meta, unpack(fields))
if tonumber(new.backlog_max) > tonumber(m[5]) then
  -- What is counted was pruned to the smaller number: counting begins no lower than that.
  redis.call('HSET', k.meta, 'floor', int(math.max(before - tonumber(m[5]), tonumber(m[6] or 0))))
end
if m[2] == 'public' then redis.call('ZREM', k.public, m[3] .. '\0' .. group) end
if new.visibility == 'public' then redis.call('ZADD', k.public, 0, new.name .. '\0' .. group) end
for i = 1, notices do
  local id = notice(k, channel, m[1], ARGV[6 + 2 * i], ARGV[7 + 2 * i], at_ms)
  advance(k.seen, k.read, by, id)
end
if notices > 0 then log_grew(k, group, m[1], int(before + notices), clock_ms(), false, before + 1) end
prune(k.skip, before + notices - tonumber(new.backlog_max))
if trim_step(k, before + notices, tonumber(new.keep), tonumber(new.backlog_max)) then
  task_enqueue(k.qk, task_id, 'trim', '{"group":"' .. group .. '","epoch":"' .. m[1] .. '"}', 'low', 0, clock_ms(),
    'trim:' .. group)
end
return {'OK', 1}
