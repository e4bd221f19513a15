-- Pauses a periodic task, or removes it. What it has enqueued stays.
--
-- KEYS  queue:work periodic
-- ARGV  name id pause:flag
--   name  of the periodic task; id: of the task that fires it
--
-- Returns 1; 0 if there is none.
-- Errors: none of its own.
-- bind: work at queue
-- include: common
-- include: remove
-- include: periodic
local declared, state = periodic_read(name)
if not declared then return 0 end
task_remove(id)
if pause then
  state.paused, state.next_ms = true, 0
  periodic_note(name, state)
else
  redis.call('HDEL', periodic, name, name .. ' at')
end
return 1
