-- include: account
-- include: limit
-- include: rate
-- include: batch
-- task_cancel removes a waiting task. Other scripts of the same partition include it, so that
-- they cancel a task in the same step as the write that makes it pointless.
--
-- queue  index in KEYS of the first of the keys that Keys.Work() lists
-- id     of the task
--
-- Returns 1 if the task was delayed, parked or ready: it is gone and never runs. Returns 0 and
-- writes nothing if it is leased (the including script has to fence it by its own record),
-- dead or does not exist.
-- Finding a ready task in its list takes about 10 us for each thousand tasks that wait there.
-- Raises nothing.
local function task_cancel(queue, id)
  -- bind: work at queue
  local spec = redis.call('HGET', tasks, id)
  if not spec then return 0 end
  local lists = {critical = critical, high = high, normal = normal, low = low}
  local options = task_options(spec)
  local limit = options and limit_of(options)
  local unparked = limit and limit_unpark(lines, parked, limit, id)
  if not unparked and redis.call('ZREM', delayed, id) == 0 then
    local list = lists[string.match(spec, '^%a+')]
    if not list or redis.call('LREM', list, 1, id) == 0 then return 0 end
  end
  if options then
    if rate_of(options) then rate_drop(rates, id) end
    task_batch_remove(counts, batches, id, spec)
  end
  redis.call('HDEL', tasks, id)
  redis.call('HDEL', runs, id)
  redis.call('HINCRBY', counts, 'deleted', 1)
  task_account(counts, id, -1, #spec)
  local key = task_unique(spec)
  -- Another task may have the key by now, if this one waits for its retry.
  if key and redis.call('HGET', unique, key) == id then redis.call('HDEL', unique, key) end
  if not limit then return 1 end
  -- The task behind one that was parked may be content with the slots that are left.
  local after = unparked and limit_pass(tasks, slots, parked, leased, lines, limit.key, limit_view(slots, limit.key))
    or limit_free(tasks, slots, parked, leased, lines, limit, id)
  for i = #after - 1, 1, -2 do redis.call('LPUSH', lists[string.match(after[i + 1], '^%a+')] or normal, after[i]) end
  if #after > 0 then redis.call('PUBLISH', tasks, 'ready') end
  return 1
end
