-- include: account
-- task_cancel takes a waiting task away. Other scripts of the same partition include it, so
-- that a task is gone if and only if what it was about is.
--
-- queue  position in KEYS of the first of the keys that Keys.Work() lists
-- id     of the task
--
-- Returns 1 when the task was delayed or ready: it is gone and never runs. Returns 0 and
-- writes nothing when it is leased (the including script has to fence it by a record of its
-- own), dead or not there.
-- A ready task is searched in its list: about 10 us for each thousand that wait there.
-- Raises nothing.
local function task_cancel(queue, id)
  -- bind: work at queue
  local spec = redis.call('HGET', tasks, id)
  if not spec then return 0 end
  if redis.call('ZREM', delayed, id) == 0 then
    local lists = {critical = critical, high = high, normal = normal, low = low}
    local list = lists[string.match(spec, '^%a+')]
    if not list or redis.call('LREM', list, 1, id) == 0 then return 0 end
  end
  redis.call('HDEL', tasks, id)
  redis.call('HDEL', runs, id)
  redis.call('HINCRBY', counts, 'deleted', 1)
  task_account(counts, id, -1, #spec)
  local key = string.match(spec, '^%S+ %S+ %S+ %S+ %S+ %S+ ([^\n]+)\n')
  -- Another task may have the key by now, if this one waits to be retried.
  if key and redis.call('HGET', unique, key) == id then redis.call('HDEL', unique, key) end
  return 1
end
