-- task_due_signal says when the first of the tasks that were just delayed is due, unless another one is due before it:
-- then the workers come anyway, and see it. However rarely they look at a partition, they know of the first one there.
local function task_due_signal(tasks, delayed, due_ms, now_ms)
  if due_ms == math.huge then return end
  local first = redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')
  if tonumber(first[2] or 0) >= due_ms then
    redis.call('PUBLISH', tasks, string.format('delayed %.0f', math.max(0, due_ms - now_ms)))
  end
end
