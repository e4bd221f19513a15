-- Reads a schedule with whether its tasks are there. Only reads.
--
-- KEYS  schedule tasks dead
-- ARGV  id
-- Returns {OK, its state ('' where there is none), version, plan, 1 where the task of this version is there, 1 where it is dead,
--       1 where the task is there that forgets the schedule}
local state, version, plan = unpack(redis.call('HMGET', schedule, 'state', 'version', 'plan'))
local task = id .. '.' .. (version or '')
return {'OK', state or '', version or '', plan or '', redis.call('HEXISTS', tasks, task), redis.call('ZSCORE', dead, task) and 1 or 0,
  redis.call('HEXISTS', tasks, id .. '.end')}
