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

-- task_digits writes a whole number, 0 for what is none.
local function task_digits(n)
  n = tonumber(n) or 0
  return n == 0 and '0' or string.format('%.0f', n)
end

-- task_enqueue_all puts in a batch. args holds nine values for each task: id, kind, payload,
-- priority, due_ms, delay_ms (counts from from_ms if there is no due_ms), unique,
-- attempts_max, deadline_ms. Returns an array, 1 or 0 for each.
local function task_enqueue_all(qk, args, now_ms, from_ms)
  local ids, taken, now = {}, {}, task_digits(now_ms)
  for at = 1, #args, 9 do ids[#ids + 1] = args[at] end
  local known = redis.call('HMGET', qk[1], unpack(ids))
  local reply, specs, due, lists, soonest_ms = {}, {}, {}, {}, 1001
  for i, id in ipairs(ids) do
    local at = 9 * i - 8
    local unique, free = args[at + 6], not known[i] and not taken[id]
    if free and unique ~= '' then free = redis.call('HSETNX', qk[3], unique, id) == 1 end
    reply[i] = free and 1 or 0
    if free then
      local list = task_ready[args[at + 3]]
      local due_ms, delay_ms = tonumber(args[at + 4]) or 0, tonumber(args[at + 5]) or 0
      if due_ms == 0 and delay_ms > 0 then due_ms = from_ms + delay_ms end
      local due_at = task_digits(due_ms)
      taken[id] = true
      specs[#specs + 1] = id
      specs[#specs + 1] = (list and args[at + 3] or 'normal') .. ' ' .. task_digits(args[at + 7]) .. ' ' ..
        task_digits(args[at + 8]) .. ' ' .. now .. ' ' .. due_at .. ' ' .. args[at + 1] .. ' ' .. unique .. '\n' ..
        args[at + 2]
      if due_ms > now_ms then
        due[#due + 1], due[#due + 2] = due_at, id
        soonest_ms = math.min(soonest_ms, due_ms - now_ms)
      else
        list = list or task_ready.normal
        lists[list] = lists[list] or {}
        table.insert(lists[list], id)
      end
    end
  end
  if #specs == 0 then return reply end
  redis.call('HSET', qk[1], unpack(specs))
  redis.call('HINCRBY', qk[2], 'enqueued', #specs / 2)
  if #due > 0 then redis.call('ZADD', qk[4], unpack(due)) end
  local ready = false
  for list = 5, 8 do
    -- A list that was not empty has woken the workers already: they are busy, and whoever
    -- becomes free looks again.
    local new = lists[list]
    if new and redis.call('RPUSH', qk[list], unpack(new)) == #new then ready = true end
  end
  if ready then redis.call('PUBLISH', qk[1], 'ready') end
  -- Workers look at the delayed tasks at least once a second, so only of what is due sooner
  -- they have to be told.
  if soonest_ms <= 1000 then redis.call('PUBLISH', qk[1], string.format('delayed %.0f', soonest_ms)) end
  return reply
end

local function task_enqueue(qk, id, kind, payload, priority, due_ms, now_ms, unique, options)
  local args = {id, kind, payload, priority, due_ms, 0, unique or '', options and options.attempts_max or 0,
    options and options.deadline_ms or 0}
  return task_enqueue_all(qk, args, tonumber(now_ms), 0)[1]
end
