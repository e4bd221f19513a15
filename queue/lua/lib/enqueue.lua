-- include: account
-- include: due
-- task_enqueue puts one task into its queue. Other scripts of the same partition include
-- it, so that a task exists if and only if the write that needs it happened.
--
-- queue     index in KEYS of the first of the keys that Keys.Enqueue() lists
-- id        of the task, beginning with its partition ("p00-..."); no blanks
-- kind      names the handler; no blanks
-- payload   any bytes
-- priority  critical | high | normal | low (anything else is normal: an error here would
--           leave the including script half done)
-- due_ms    when it may start, by the clock of Redis; 0 = now
-- now_ms    the clock of Redis, as the including script read it
-- unique    while a task with this key waits, no second one is enqueued; '' = none
-- options   optional: {attempts_max = n, deadline_ms = t}
--
-- Returns 1, or 0 if the unique key or the id already exists. It does not ask whether another task took that key only
-- until a time (Task.UniqueFor) that has come: such keys are for those who enqueue with a Client.
-- Raises nothing after its first write.
-- task_digits formats a whole number, and anything else as 0.
local function task_digits(n)
  n = tonumber(n) or 0
  return n == 0 and '0' or string.format('%.0f', n)
end

-- task_enqueue_all enqueues a batch. args holds ten values for each task: id, kind, payload,
-- priority, due_ms, delay_ms (counts from from_ms if there is no due_ms), unique,
-- attempts_max, deadline_ms, options (as option.go writes them). Returns an array, 1 or 0 for each;
-- 2 if its limit refuses it, because every slot of the key is taken. With holders, the id of the
-- task that took its unique key stands in place of that 0, and keys whose time has come are free.
local function task_enqueue_all(queue, args, now_ms, from_ms, holders)
  -- bind: enqueue at queue
  local ids, taken, now, admit = {}, {}, task_digits(now_ms), nil
  local asks = false -- whether some task has options, or a unique key that may have been taken until a time
  for at = 1, #args, 10 do
    ids[#ids + 1] = args[at]
    if args[at + 9] ~= '' or holders and args[at + 6] ~= '' then asks = true end
  end
  if asks then
    -- include: enqueue_options
    admit = option_admit
  end
  local known = redis.call('HMGET', tasks, unpack(ids))
  local lists = {critical = critical, high = high, normal = normal, low = low}
  local reply, specs, due, ready_ids, soonest_ms = {}, {}, {}, {}, math.huge
  for i, id in ipairs(ids) do
    local _, kind, payload, priority, due_ms, delay_ms, key, attempts_max, deadline_ms, more = unpack(args, 10 * i - 9, 10 * i)
    local free, refusal = not known[i] and not taken[id], 0
    if free and admit then
      free, refusal = admit(id, key, more)
    elseif free and key ~= '' then
      free = redis.call('HSETNX', unique, key, id) == 1
    end
    reply[i] = free and 1 or refusal
    if free then
      if not lists[priority] then priority = 'normal' end
      due_ms, delay_ms = tonumber(due_ms) or 0, tonumber(delay_ms) or 0
      if due_ms == 0 and delay_ms > 0 then due_ms = from_ms + delay_ms end
      local due_at = task_digits(due_ms)
      taken[id] = true
      specs[#specs + 1] = id
      specs[#specs + 1] = priority .. ' ' .. task_digits(attempts_max) .. ' ' .. task_digits(deadline_ms) .. ' ' .. now ..
        ' ' .. due_at .. ' ' .. kind .. ' ' .. key .. more .. '\n' .. payload
      if due_ms > now_ms then
        due[#due + 1], due[#due + 2] = due_at, id
        soonest_ms = math.min(soonest_ms, due_ms)
      else
        ready_ids[priority] = ready_ids[priority] or {}
        table.insert(ready_ids[priority], id)
      end
    end
  end
  if #specs == 0 then return reply end
  redis.call('HSET', tasks, unpack(specs))
  redis.call('HINCRBY', counts, 'enqueued', #specs / 2)
  for i = 1, #specs, 2 do task_account(counts, specs[i], 1, #specs[i + 1]) end
  if #due > 0 then redis.call('ZADD', delayed, unpack(due)) end
  local ready = false
  for _, priority in ipairs({'critical', 'high', 'normal', 'low'}) do
    -- If the list was not empty, the workers are already awake: they are busy, and look again when one becomes free.
    local new = ready_ids[priority]
    if new and redis.call('RPUSH', lists[priority], unpack(new)) == #new then ready = true end
  end
  if ready then redis.call('PUBLISH', tasks, 'ready') end
  task_due_signal(tasks, delayed, soonest_ms, now_ms)
  return reply
end

local function task_enqueue(queue, id, kind, payload, priority, due_ms, now_ms, unique, options)
  local args = {id, kind, payload, priority, due_ms, 0, unique or '', options and options.attempts_max or 0,
    options and options.deadline_ms or 0, ''}
  return task_enqueue_all(queue, args, tonumber(now_ms), 0)[1]
end
