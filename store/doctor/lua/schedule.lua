-- Reads a schedule, and whether its tasks exist. Only reads.
--
-- KEYS  schedule tasks dead
-- ARGV  id
-- Returns {OK, its state ('' if there is none), version, plan, 1 if the task of this version exists, 1 if it is dead, 1 if the
--       task that removes the schedule exists}
local state, version, plan = unpack(redis.call('HMGET', schedule, 'state', 'version', 'plan'))
local task = id .. '.' .. (version or '')
return {'OK', state or '', version or '', plan or '', redis.call('HEXISTS', tasks, task), redis.call('ZSCORE', dead, task) and 1 or 0,
  redis.call('HEXISTS', tasks, id .. '.end')}
