-- Removes a task, in whatever state it is. A running one loses its lease, so its result has
-- no effect, and its worker gets a signal. A task that fires a periodic one stays, unless it is
-- dead: without it nothing would fire.
--
-- KEYS  queue:work
-- ARGV  id
--
-- Returns the state that the task was in; '' if there is none; 'fires' if it stays.
-- Errors: none of its own.
-- bind: work at queue
-- include: common
-- include: remove
local spec = redis.call('HGET', tasks, id)
if spec and string.match(spec, '^%S+ %S+ %S+ %S+ %S+ @periodic:') and not redis.call('ZSCORE', dead, id) then return 'fires' end
return task_remove(id)
