-- task_cancel takes a waiting task away. Other scripts of the same partition include it, so
-- that a task is gone if and only if what it was about is.
--
-- wk  array of the keys that Keys.Work() lists
-- id  of the task
--
-- Returns 1 when the task was delayed or ready: it is gone and never runs. Returns 0 and
-- writes nothing when it is leased (the including script has to fence it by a record of its
-- own), dead or not there.
-- A ready task is searched in its list: about 10 us for each thousand that wait there.
-- Raises nothing.
local function task_cancel(wk, id)
  local spec = redis.call('HGET', wk[1], id)
  if not spec then return 0 end
  if redis.call('ZREM', wk[4], id) == 0 then
    local places = {critical = 5, high = 6, normal = 7, low = 8}
    local list = wk[places[string.match(spec, '^%a+')]]
    if not list or redis.call('LREM', list, 1, id) == 0 then return 0 end
  end
  redis.call('HDEL', wk[1], id)
  redis.call('HDEL', wk[10], id)
  redis.call('HINCRBY', wk[2], 'deleted', 1)
  local unique = string.match(spec, '^%S+ %S+ %S+ %S+ %S+ %S+ ([^\n]+)\n')
  -- Another task may have the key by now, if this one waits to be retried.
  if unique and redis.call('HGET', wk[3], unique) == id then redis.call('HDEL', wk[3], unique) end
  return 1
end
