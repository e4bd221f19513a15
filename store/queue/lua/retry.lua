-- Makes a dead or delayed task ready now. A dead one starts over: no attempts, no crashes.
--
-- KEYS  queue:work
-- ARGV  id
--
-- Returns the state that the task was in; '' if there is none. A ready and a leased one stay
-- as they are.
-- Errors: none of its own.
-- bind: work at queue
-- include: common
local now_ms = task_clock()
local state, _, _, spec = task_find(id)
if not state then return '' end
if state ~= 'dead' and state ~= 'delayed' then return state end

local run = redis.call('HGET', runs, id)
if run or state == 'dead' then
  run = task_run(run)
  if state == 'dead' then run.attempts, run.crashes = 0, 0 end
  task_write_run(id, run, now_ms)
end
if state == 'dead' then
  task_account(counts, id, 1, #spec)
  redis.call('HINCRBY', counts, 'dead_bytes', -task_size(id))
  if task_holds(spec) then redis.call('HSETNX', unique, task_unique(spec), id) end
end
redis.call('ZREM', state == 'dead' and dead or delayed, id)
task_push({id})
redis.call('PUBLISH', tasks, 'ready')
return state
