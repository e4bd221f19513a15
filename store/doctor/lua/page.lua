-- Reads the part of an announcement in one partition with whether the task of its pages is there. Only reads.
--
-- KEYS  part tasks dead
-- ARGV  task
-- Returns {OK, run of the part, 1 if it is done or stopped, 1 if the task is there, 1 if it is dead}
local run, done, stopped = unpack(redis.call('HMGET', part, 'run', 'done', 'stopped'))
return {'OK', run or '0', (done == '1' or stopped) and 1 or 0, redis.call('HEXISTS', tasks, task),
  redis.call('ZSCORE', dead, task) and 1 or 0}
