-- Shared by the scripts that move existing tasks.
--
-- A value of tasks is "<priority> <attempts_max> <deadline_ms> <enqueued_ms> <due_ms> <kind>
-- <unique>[\r<option> <value>]...\n<payload>"; rewrite.lua alone changes it, and only the payload.
-- A value of runs is "<attempts> <crashes> <due_ms> <done> <total> <last error>". A task that
-- never failed and reported no progress has none.
-- A member of leased is "<id> <token>", with the token of the newest claim, so finding the
-- member is enough to know who may still write. Tokens are random: a counter of claims would
-- repeat one after a failover that lost its last step. They have 40 characters to make members
-- longer than 64 bytes: Redis then stores the set as a skiplist. As a listpack, in which every
-- ZADD and ZREM scans the set, it was two to four times slower
-- with 50 leases.
-- include: account
-- include: batch
-- include: clock
-- include: limit
-- include: option
-- include: rate
-- include: unique
-- needs: tasks counts unique expiring delayed critical high normal low leased runs dead batches slots parked rates lines
local task_priorities = {'critical', 'high', 'normal', 'low'}
local lists = {critical = critical, high = high, normal = normal, low = low}

-- task_run parses a value of runs. A field that cannot be parsed counts as 0: this runs after first writes, where an
-- error would lose the task.
local function task_run(run)
  local attempts, crashes, done, total, err = string.match(run or '', '^(%d+) (%d+) %d+ (%d+) (%d+) (.*)$')
  return {attempts = tonumber(attempts or 0), crashes = tonumber(crashes or 0), done = done or '0', total = total or '0',
    err = err or ''}
end

local function task_write_run(id, run, due_ms)
  redis.call('HSET', runs, id, string.format('%d %d %.0f %s %s ', run.attempts, run.crashes, due_ms,
    run.done, run.total) .. run.err)
end

-- task_free lets the following writes through although Redis is full. Redis refuses only a first write that may take
-- memory; writes that take none, or free some, must not be refused.
local function task_free() redis.call('ZREM', leased, '') end

local function task_list(spec)
  return lists[string.match(spec, '^%a+')] or normal
end

-- task_slot_free frees the slot of a task that ends or waits again. The tasks that slots were passed on to, which are
-- passed, become ready with task_slots_pass, which must follow: at the heads of their lists, in the order in which they
-- were parked.
local passed = {}
local function task_slot_passed(after)
  for i = 1, #after, 2 do passed[#passed + 1] = {task_list(after[i + 1]), after[i]} end
end

local function task_slot_free(id, limit) task_slot_passed(limit_free(tasks, slots, parked, leased, lines, limit, id)) end

local function task_slots_pass()
  for i = #passed, 1, -1 do redis.call('LPUSH', passed[i][1], passed[i][2]) end
  redis.call('PUBLISH', tasks, 'ready')
  local n = #passed
  passed = {}
  return n
end

-- task_unhold frees what the options of a task that ends keep until then: its unique key, and the slot of its limit.
local function task_unhold(id, spec, options)
  local key = unique_holds(options) and task_unique(spec)
  if key and redis.call('HGET', unique, key) == id then redis.call('HDEL', unique, key) end
  local limit = limit_of(options)
  if limit then task_slot_free(id, limit) end
end

-- task_push makes tasks ready, each at the tail of its priority, in the order given. An id without a specification was
-- removed by hand: it goes nowhere.
local function task_push(ids)
  if #ids == 0 then return end
  local specs = redis.call('HMGET', tasks, unpack(ids))
  local ready = {}
  for i, id in ipairs(ids) do
    if specs[i] then
      local list = task_list(specs[i])
      ready[list] = ready[list] or {}
      table.insert(ready[list], id)
    end
  end
  for _, priority in ipairs(task_priorities) do
    local list = lists[priority]
    if ready[list] then redis.call('RPUSH', list, unpack(ready[list])) end
  end
end

-- task_size returns the bytes of a task, those of the batch that it carries included, and how many tasks that has.
local function task_size(id)
  local bytes = redis.call('HSTRLEN', tasks, id)
  if not task_carries(id) then return bytes, 0 end
  local carried, more = task_batch_size(batches, id)
  return bytes + more, carried
end

-- task_bury keeps a task as a dead letter, and drops the oldest ones while there are more than dead_max, or the bytes of
-- their specifications, which counts holds as dead_bytes, are more than dead_bytes_max. The newest goes last, whatever
-- its place among those of the same ms or of a clock that was set back. A script drops a bounded number: if one large
-- dead letter displaces many small ones, or a bound was lowered, the next scripts continue. Its slot is free then:
-- task_slots_pass must follow.
local task_drops_left = 500
local function task_bury(id, now_ms, dead_max, dead_bytes_max)
  local spec = redis.call('HGET', tasks, id)
  local options = spec and task_options(spec)
  local size = spec and #spec or 0
  if options then
    local _, carried = task_batch_size(batches, id)
    size = size + carried
    if carried > 0 then task_batch_seal(batches, id, spec) end
    task_unhold(id, spec, options)
  end
  redis.call('ZADD', dead, string.format('%.0f', now_ms), id)
  redis.call('HINCRBY', counts, 'buried', 1)
  task_account(counts, id, -1, size)
  local kept, bytes = redis.call('ZCARD', dead), redis.call('HINCRBY', counts, 'dead_bytes', size)
  while task_drops_left > 0 and kept > 0 and (kept > dead_max or bytes > dead_bytes_max) do
    local oldest, cost = {}, 0
    for _, one in ipairs(redis.call('ZRANGE', dead, 0, 16)) do
      if cost >= task_drops_left or kept <= dead_max and bytes <= dead_bytes_max then break end
      if one ~= id or kept == 1 then
        oldest[#oldest + 1] = one
        local size_of, carried = task_size(one)
        kept, bytes, cost = kept - 1, bytes - size_of, cost + 1 + carried
      end
    end
    if kept == 0 then bytes = 0 end
    for _, one in ipairs(oldest) do
      if task_carries(one) then task_batch_remove(counts, batches, one, redis.call('HGET', tasks, one) or '') end
    end
    redis.call('ZREM', dead, unpack(oldest))
    redis.call('HDEL', tasks, unpack(oldest))
    redis.call('HDEL', runs, unpack(oldest))
    redis.call('HINCRBY', counts, 'dropped', #oldest)
    redis.call('HSET', counts, 'dead_bytes', string.format('%.0f', bytes))
    task_drops_left = task_drops_left - cost
  end
end

-- task_find returns where a task is: its state, the time that belongs to it as a string of ms (due, end of the lease,
-- death, since when it is parked; '0' if ready), its member in leased, its specification. Nothing if there is no such
-- task. There are no more leases than workers, so scanning them is cheap.
local function task_find(id)
  local spec = redis.call('HGET', tasks, id)
  if not spec then return nil end
  local at = redis.call('ZSCORE', delayed, id)
  if at then return 'delayed', at, nil, spec end
  at = redis.call('ZSCORE', dead, id)
  if at then return 'dead', at, nil, spec end
  local options = task_options(spec)
  if options and limit_of(options) then
    at = redis.call('ZSCORE', parked, id)
    if at then return 'parked', string.format('%.0f', math.floor(tonumber(at) / 1000)), nil, spec end
  end
  local head, from = id .. ' ', 0
  repeat
    local page = redis.call('ZRANGE', leased, from, from + 499, 'WITHSCORES')
    for i = 1, #page, 2 do
      if string.sub(page[i], 1, #head) == head then return 'leased', page[i + 1], page[i], spec end
    end
    from = from + 500
  until #page < 1000
  return 'ready', '0', nil, spec
end
