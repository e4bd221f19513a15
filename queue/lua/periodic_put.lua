-- Writes the declaration of a periodic task and plans its next occurrence, unless it is
-- there already. If it differs only in what its tasks are, the planned occurrence stays. A
-- pause stays as well.
--
-- KEYS  queue:work periodic
-- ARGV  name id declared next_ms:int resume:flag
--   name      of the periodic task; id: of the task that fires it
--   declared  see lib/periodic.lua
--   next_ms   its next occurrence by its plan
--   resume    ends a pause, and plans it again; a declaration that differs is not written
--
-- Returns 1; 0 if nothing had to be done; -1 if it is to resume another one, or none.
-- Errors: none of its own.
-- bind: work at queue
-- include: common
-- include: remove
-- include: enqueue
-- include: periodic
local now_ms, from_ms = task_clock()
local old, state = periodic_read(name)
if resume and old ~= declared then return -1 end
state = state or {paused = false, last_ms = 0, next_ms = 0, fired = 0}
local waits = redis.call('HEXISTS', tasks, id) == 1 and not redis.call('ZSCORE', dead, id)
local fine = waits or state.paused
if not resume and old == declared and fine then return 0 end
if resume and not state.paused and waits then return 0 end
if resume then state.paused = false end
redis.call('HSET', periodic, name, declared)
local plan = string.match(declared, '^[^\n]*\n([^\n]*)\n')
if old and waits and not resume and string.match(old, '^[^\n]*\n([^\n]*)\n') == plan then return 1 end
task_remove(id)
state.next_ms = state.paused and 0 or next_ms
periodic_note(name, state)
if not state.paused then
  local batch = {}
  periodic_task(batch, id, declared, next_ms)
  task_enqueue_all(queue, batch, now_ms, from_ms)
end
return 1
