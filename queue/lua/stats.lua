-- Counts the tasks of one queue in one partition by state, all at one instant. Writes nothing.
--
-- KEYS  queue:work
--
-- Returns {critical, high, normal, low, delayed, leased, dead, paused, age_ms, enqueued, done,
-- failed, crashed, buried, dropped, deleted, dead_bytes, batched, parked, kinds}
--   age_ms  how long the oldest task at the heads of the ready lists has been ready: since it was
--           enqueued or due, whichever was last; 0 = none is ready
--   kinds   an array of the kinds of a sample of the waiting tasks: the next of each list, and
--           those that are due next. Large tasks are left out, because the whole would be read
-- Errors: none of its own.
-- bind: work at queue
-- include: common
local reply, age_ms = {}, 0
local now_ms = task_clock()
for p, priority in ipairs(task_priorities) do
  reply[p] = redis.call('LLEN', lists[priority])
  local head = reply[p] > 0 and redis.call('LINDEX', lists[priority], 0)
  local spec = head and redis.call('HGET', tasks, head)
  if spec then
    local enqueued_ms, due_ms = string.match(spec, '^%S+ %S+ %S+ (%d+) (%d+) ')
    local again_ms = string.match(redis.call('HGET', runs, head) or '', '^%d+ %d+ (%d+)')
    age_ms = math.max(age_ms, now_ms - math.max(tonumber(enqueued_ms or now_ms), tonumber(due_ms or 0), tonumber(again_ms or 0)))
  end
end
reply[5] = redis.call('ZCARD', delayed)
reply[6] = redis.call('ZCARD', leased)
reply[7] = redis.call('ZCARD', dead)
reply[8] = redis.call('EXISTS', paused)
reply[9] = age_ms
local totals = redis.call('HMGET', counts, 'enqueued', 'done', 'failed', 'crashed', 'buried', 'dropped', 'deleted',
  'dead_bytes', 'batched')
for i = 1, 9 do reply[9 + i] = tonumber(totals[i] or '0') end

local kinds, known, budget = {}, {}, 262144
local function sample(ids)
  for _, id in ipairs(ids) do
    local size = redis.call('HSTRLEN', tasks, id)
    if size <= budget then
      budget = budget - size
      local kind = string.match(redis.call('HGET', tasks, id) or '', '^%S+ %S+ %S+ %S+ %S+ (%S+) ')
      if kind and not known[kind] then kinds[#kinds + 1], known[kind] = kind, true end
    end
  end
end
for p, priority in ipairs(task_priorities) do
  if reply[p] > 0 then sample(redis.call('LRANGE', lists[priority], 0, 24)) end
end
if reply[5] > 0 then sample(redis.call('ZRANGE', delayed, 0, 99)) end
reply[19] = redis.call('ZCARD', parked)
reply[20] = kinds
return reply
