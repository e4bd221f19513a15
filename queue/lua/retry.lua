-- Makes a dead or delayed task ready now. A dead one starts over: no attempts, no crashes.
--
-- KEYS  queue:work
-- ARGV  id
--
-- Returns the state that the task was in; '' if there is none. A ready, a parked and a leased
-- one stay as they are.
-- Errors: none of its own.
-- bind: work at queue
-- include: common
-- include: retry
local now_ms = task_clock()
local state, _, _, spec = task_find(id)
if not state then return '' end
if state ~= 'dead' and state ~= 'delayed' then return state end
task_retry(id, state, spec, now_ms)
redis.call('PUBLISH', tasks, 'ready')
return state
