-- Pauses or resumes a queue in one partition.
--
-- KEYS  queue:work
-- ARGV  pause:flag
--   pause  true: nothing may be claimed; false: claims are allowed again
--
-- Returns 1 if that changed something, else 0.
-- Errors: none of its own.
-- bind: work at queue
-- include: common
if pause then
  task_free()
  return redis.call('SETNX', paused, '1')
end
local changed = redis.call('DEL', paused)
redis.call('PUBLISH', tasks, 'ready')
return changed
