-- task_enqueue puts one task into its queue. Other scripts of the same partition include
-- it, so that a task exists if and only if what it is about was written.
--
-- qk        array of the keys that Keys.Enqueue() lists: tasks, counts, unique, delayed,
--           ready:critical, ready:high, ready:normal, ready:low
-- id        of the task, beginning with its partition ("p00-..."); no blanks
-- kind      names the handler; no blanks
-- payload   any bytes
-- priority  critical | high | normal | low (anything else is normal: an error here would
--           leave the including script half done)
-- due_ms    when it may start, by the clock of Redis; 0 = now
-- now_ms    the clock of Redis, as the including script read it
-- unique    while a task waits under this key, no second one is put in; '' = none
-- options   may be left out: {attempts_max = n, deadline_ms = t}
--
-- Returns 1, or 0 when the unique key or the id is already there.
-- Raises nothing after its first write.
local task_ready = {critical = 5, high = 6, normal = 7, low = 8}

local function task_enqueue(qk, id, kind, payload, priority, due_ms, now_ms, unique, options)
  due_ms, now_ms = tonumber(due_ms) or 0, tonumber(now_ms)
  if not task_ready[priority] then priority = 'normal' end
  local attempts_max = options and tonumber(options.attempts_max) or 0
  local deadline_ms = options and tonumber(options.deadline_ms) or 0
  unique = unique or ''

  if unique ~= '' and redis.call('HEXISTS', qk[3], unique) == 1 then return 0 end
  local spec = string.format('%s %.0f %.0f %.0f %.0f %s %s\n',
    priority, attempts_max, deadline_ms, now_ms, due_ms, kind, unique) .. payload
  if redis.call('HSETNX', qk[1], id, spec) == 0 then return 0 end
  if unique ~= '' then redis.call('HSET', qk[3], unique, id) end
  redis.call('HINCRBY', qk[2], 'enqueued', 1)

  if due_ms > now_ms then
    redis.call('ZADD', qk[4], string.format('%.0f', due_ms), id)
    -- Workers look at the delayed tasks at least once a second, so only of what is due
    -- sooner they have to be told.
    if due_ms - now_ms <= 1000 then
      redis.call('PUBLISH', qk[1], string.format('delayed %.0f', due_ms - now_ms))
    end
    return 1
  end
  -- A list that was not empty has woken the workers already: they are busy, and whoever
  -- becomes free looks again.
  if redis.call('RPUSH', qk[task_ready[priority]], id) == 1 then
    redis.call('PUBLISH', qk[1], 'ready')
  end
  return 1
end
