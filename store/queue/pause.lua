-- Pauses a queue in one partition, or lets it go on.
--
-- KEYS  those of Keys.Work()
-- ARGV  1 = nothing may be claimed any more; 0 = it may again
--
-- Returns 1 if that changed something, else 0.
-- Errors: none of its own.
if ARGV[1] == '1' then
  task_free()
  return redis.call('SETNX', paused, '1')
end
local changed = redis.call('DEL', paused)
redis.call('PUBLISH', tasks, 'ready')
return changed
