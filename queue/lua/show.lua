-- Shows one task. Writes nothing.
--
-- KEYS  queue:work
-- ARGV  id
--
-- Returns {id, state, time_ms, spec, run}, or {} if there is no such task
--   time_ms  when it is due (delayed), when its lease ends (leased), when it died (dead), since
--            when it is parked (parked); 0 (ready)
--   run      its value of runs, or ''
-- Errors: none of its own.
-- bind: work at queue
-- include: common
local state, at, _, spec = task_find(id)
if not state then return {} end
return {id, state, at, spec, redis.call('HGET', runs, id) or ''}
