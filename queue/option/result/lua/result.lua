-- Asks how a task ended. Writes nothing.
--
-- KEYS  queue:work
-- ARGV  id
--
-- Returns {what, time_ms, text}
--   what     complete: it is, and its result is kept; dead: it is a dead letter; waits: it has not
--            ended; '': there is neither such a task nor a result
--   time_ms  when it was complete, or died
--   text     its result, or the error of its last run
-- Errors: none of its own.
-- bind: work at queue
-- include: common
local now_ms = task_clock()
local until_ms = redis.call('ZSCORE', kept, id)
if until_ms and tonumber(until_ms) > now_ms then
  local at, text = string.match(redis.call('HGET', results, id) or '', '^(%d+) (.*)$')
  if at then return {'complete', at, text} end
end
local died_ms = redis.call('ZSCORE', dead, id)
if died_ms then return {'dead', died_ms, task_run(redis.call('HGET', runs, id)).err} end
return {redis.call('HEXISTS', tasks, id) == 1 and 'waits' or '', '0', ''}
