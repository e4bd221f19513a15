-- include: core.lua
-- include: gone.lua
-- Deletes a group, for its owner or an operator.
--
-- KEYS  core
-- ARGV  1 by, 2 '1' where by is an operator, 3 channel, 4 id for a task, 5 group
-- Returns {OK}
-- Refuses NOTFOUND, FORBIDDEN
local k = core()
local by, operator, channel, task_id, group = ARGV[1], ARGV[2] == '1', ARGV[3], ARGV[4], ARGV[5]

local m = redis.call('HMGET', k.meta, 'epoch', 'visibility')
if not m[1] then return {'NOTFOUND'} end
local refused = may_manage(k, m[2], by, operator)
if refused then return refused end
if not operator and role_of(k, by) ~= 'owner' then return {'FORBIDDEN'} end

remove_group(k, group, channel, task_id, clock_ms(), by)
return {'OK'}
