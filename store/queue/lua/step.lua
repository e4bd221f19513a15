-- One step of a worker in one partition, for all queues that it serves: promotes due tasks,
-- reaps expired leases, claims as many ready tasks as there are free workers, and returns when
-- to come back. A task whose limit or rate does not let it begin is parked or delayed instead.
-- One script, so that waiting costs one command.
--
-- KEYS  queues:work...
-- ARGV  lease_ms:int overdue_max:int crashes_max:int backoff_ms:int jitter:int dead_max:int dead_bytes_max:int token
--       claims(claim order)...
--   lease_ms     length of a lease
--   overdue_max  promotions, and leases to reap, at most, in each queue;
--                0 does neither
--   crashes_max  a task whose lease expired that often is buried
--   backoff_ms   pause after the second expired lease, doubled with each further one
--   jitter       0 to 999: where in these pauses the first task falls
--   dead_max     dead letters to keep; dead_bytes_max: their bytes
--   token        of the claims: 40 characters that no claim has had before
--   claims       of each queue
--   claim        tasks to claim at most; 0 claims none
--   order        a digit for each claim: 1 critical, 2 high, 3 normal, 4 low. The turn of an
--                empty list goes to the highest one that is not
--
-- Returns {now_ms, wait_ms, then for each queue {left, promoted, reaped, lapsed, with, id,
-- spec, id, ...}}
--   wait_ms   until the next due time or end of a lease, at least 0; -1 = none is known
--   left      ready tasks that were not claimed; 0 while the queue is paused
--   lapsed    {kind, n, buried, ...}: how many of the reaped there were of each kind, and how many
--             of these were buried. Those that Hold takes are left out
--   with      {position, run, ...}: the values of runs that claimed tasks have, positions from 1
-- Errors: none of its own.
local tasks, counts, unique, delayed, critical, high, normal, low, slots, expiring, leased, runs, dead, paused, batches, parked, rates, kept, results, lines
-- include: common

-- use binds the keys of the queue that begin at a position in KEYS.
local function use(queue)
  -- set: work at queue
  lists.critical, lists.high, lists.normal, lists.low = critical, high, normal, low
end

local suffix = ' ' .. token
local now_ms, from_ms, now_us = task_clock()
local now = string.format('%.0f', now_ms)
local until_ms = string.format('%.0f', from_ms + lease_ms)
local next_ms = math.huge

-- expired lists the members of a sorted set that are due at or before now, at most overdue_max of them. It looks at the
-- head first: the usual answer is "none", and this is the cheapest way to get it.
local function expired(key)
  local head = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
  local members = {}
  if head[2] and tonumber(head[2]) <= now_ms then
    members = redis.call('ZRANGEBYSCORE', key, '-inf', now, 'LIMIT', 0, overdue_max)
    redis.call('ZREM', key, unpack(members))
    head = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
  end
  next_ms = math.min(next_ms, tonumber(head[2]) or math.huge)
  return members
end

-- The pauses of tasks that lost their workers together are spread by the golden ratio: if one of them kills workers,
-- the others get to run without it.
local function reap(members)
  local ids, again, lapsed, at = {}, {}, {}, {}
  for i, member in ipairs(members) do ids[i] = string.match(member, '^%S+') end
  local state = redis.call('HMGET', runs, unpack(ids))
  local specs = redis.call('HMGET', tasks, unpack(ids))
  for i, id in ipairs(ids) do
    local run = task_run(state[i])
    run.crashes = run.crashes + 1
    local limit = specs[i] and limit_of(specs[i])
    local held = limit and limit_held(specs[i])
    local kind = specs[i] and string.match(specs[i], '^%S+ %S+ %S+ %S+ %S+ (%S+)') or ''
    if not held and not at[kind] then
      at[kind] = #lapsed + 1
      lapsed[#lapsed + 1], lapsed[#lapsed + 2], lapsed[#lapsed + 3] = kind, 0, 0
    end
    if not held then lapsed[at[kind] + 1] = lapsed[at[kind] + 1] + 1 end
    if limit and (held or not limit.keep) then task_slot_free(id, limit) end
    if held then
      redis.call('HDEL', tasks, id)
      redis.call('HINCRBY', counts, 'deleted', 1)
      task_account(counts, id, -1, #specs[i])
    elseif run.crashes >= crashes_max then
      local reason = string.format('lease ended %d times', run.crashes)
      if run.err ~= '' then reason = reason .. '; before: ' .. run.err end
      run.err = reason
      task_write_run(id, run, 0)
      task_bury(id, now_ms, dead_max, dead_bytes_max)
      lapsed[at[kind] + 2] = lapsed[at[kind] + 2] + 1
    elseif run.crashes == 1 then
      task_write_run(id, run, now_ms)
      again[#again + 1] = id
    else
      local share = (jitter / 1000 + i * 0.618034) % 1
      local due_ms = from_ms + math.ceil(backoff_ms * 2 ^ math.min(run.crashes - 2, 10) * share)
      task_write_run(id, run, due_ms)
      redis.call('ZADD', delayed, string.format('%.0f', due_ms), id)
      next_ms = math.min(next_ms, due_ms)
    end
  end
  task_push(again)
  redis.call('HINCRBY', counts, 'crashed', #ids)
  return #again + task_slots_pass(), lapsed
end

-- How many to take of each priority. It depends only on the lengths of the lists and the order, so every list is popped
-- once however many tasks are claimed.
local function shares(length, left, n, order)
  local take = {0, 0, 0, 0}
  for p = 1, 4 do
    if length[p] == left then
      take[p] = math.min(n, left)
      return take
    end
  end
  for i = 1, n do
    local p = string.byte(order, i) - 48
    if take[p] == length[p] then
      p = 1
      while p <= 4 and take[p] == length[p] do p = p + 1 end
      if p > 4 then break end
    end
    take[p] = take[p] + 1
  end
  return take
end

-- A claim frees the unique key, unless its task keeps it until the end or a time. A younger task may have taken it
-- meanwhile, while this one waited for its retry.
local function free_unique(ids, specs)
  local waiting, owners, free, spans = {}, {}, {}, false
  for i, id in ipairs(ids) do
    local key = specs[i] and not task_holds(specs[i]) and task_unique(specs[i])
    if key and unique_span(specs[i]) then
      spans = true
    elseif key then waiting[#waiting + 1], owners[#owners + 1] = key, id end
  end
  if spans then unique_trim(unique, expiring, now_ms) end
  if #waiting == 0 then return end
  local holders = redis.call('HMGET', unique, unpack(waiting))
  for i, holder in ipairs(holders) do
    if holder == owners[i] then free[#free + 1] = waiting[i] end
  end
  if #free > 0 then redis.call('HDEL', unique, unpack(free)) end
end

-- delay puts a claimed task among the delayed ones.
local soonest_ms
local function delay(id, due_ms)
  redis.call('ZADD', delayed, string.format('%.0f', due_ms), id)
  soonest_ms = math.min(soonest_ms, due_ms - now_ms)
  if overdue_max > 0 then next_ms = math.min(next_ms, due_ms) end
end

-- slot returns whether a task has a slot of its limit now. Without one, it is parked or delayed. views are those of the keys
-- that this claim has looked at: false if nobody has a slot, a value as it is stored, or what limit_read makes of it.
-- store_views stores those that are touched, some of which may be named twice.
local views, touched
local function store_views()
  local anew = {}
  for _, key in ipairs(touched) do
    local view = views[key]
    if view then
      anew[#anew + 1], anew[#anew + 2] = key, type(view) == 'string' and view or limit_value(view)
      views[key] = nil
    end
  end
  if #anew > 0 then redis.call('HSET', slots, unpack(anew)) end
  touched = {}
end

local function slot(id, limit)
  local key = limit.key
  if views[key] == nil then views[key] = redis.call('HGET', slots, key) end
  local view = views[key]
  if not view then
    views[key] = id
    touched[#touched + 1] = key
    return true
  end
  if type(view) == 'string' then
    view = limit_read(view)
    view.has = {}
    for _, one in ipairs(view.ids) do view.has[one] = true end
    views[key] = view
  end
  if view.has[id] then return true end
  touched[#touched + 1] = key
  if limit_open(view, limit) then
    view.ids[#view.ids + 1], view.has[id] = id, true
    return true
  end
  local pause_ms = tonumber(limit.busy)
  if pause_ms then
    delay(id, from_ms + pause_ms)
  else
    limit_park(lines, parked, key, id, now_us)
    view.waits = true
  end
  return false
end

-- admit returns whether a task may be claimed, as far as its limit and its rate go. Otherwise it waits in another way now.
local function admit(id, limit, rate, seen)
  if limit and not slot(id, limit) then return false end
  local wait_us = rate and rate_wait(seen, rate, id, now_us) or 0
  if wait_us <= 0 then return true end
  if limit and not limit.keep then
    store_views()
    task_slot_free(id, limit)
    views = {}
  end
  delay(id, math.ceil((now_us + wait_us) / 1000))
  return false
end

-- admit_limited is admit_all for the n tasks at which, which have limits and no rates. names are their keys, taken each key
-- and the id of its task, and values those of the mark and of the keys. Mostly nobody has a slot of a key, and no key comes
-- twice: such a task costs two words of one command.
local function admit_limited(ids, specs, n, which, names, taken, values)
  local busy, last = {}, 2 * n
  for j = 1, n do
    if values[j + 1] then busy[#busy + 1] = j end
  end
  if #busy > 0 then
    last = 0
    for j = 1, n do
      if not values[j + 1] then
        last = last + 2
        taken[last - 1], taken[last] = names[j], ids[which[j]]
      end
    end
  end
  if not values[1] then
    last = last + 2
    taken[last - 1], taken[last] = limit_mark, limit_mark_value
  end
  if last > 0 and redis.call('HSET', slots, unpack(taken, 1, last)) < last / 2 then
    -- Some keys came twice: the first task has the slot.
    for j = 1, n do
      local key = names[j]
      if not values[j + 1] and views[key] then busy[#busy + 1] = j elseif not values[j + 1] then views[key] = ids[which[j]] end
    end
  end
  for _, j in ipairs(busy) do
    local key, i = names[j], which[j]
    views[key] = views[key] or values[j + 1]
    if not slot(ids[i], limit_of(specs[i])) then specs[i] = false end
  end
end

-- admit_all drops the specifications of the tasks that may not be claimed. A task without options costs a look for the
-- first \r. Mostly a limit is the only option, and says no more than that tasks wait for each other: a comparison takes
-- two thirds of the time of a pattern.
local find, match, sub = string.find, string.match, string.sub
local limit_alone = '\rlimit 1 0 wait '
local function admit_all(ids, specs)
  -- The positions of the tasks with limits, their keys, and what HSET takes.
  local which, names, taken, n, rated, wants = {}, {}, {}, 0, {}, {}
  for i = 1, #ids do
    local spec = specs[i]
    local from = spec and find(spec, '\r', 1, true)
    local to = from and find(spec, '\n', 1, true)
    if to and from < to then
      local key, after
      if sub(spec, from, from + #limit_alone - 1) == limit_alone and to > from + #limit_alone then
        key = sub(spec, from + #limit_alone, to - 1)
        after = not find(key, '\r', 1, true) and to
      else
        key, after = match(spec, '^\rlimit %d+ [01] %S+ ([^\r\n]+)()', from)
      end
      if after ~= to then
        local limit, rate = limit_of(spec), rate_of(spec)
        key = limit and limit.key
        if rate then rated[i], wants[#wants + 1], wants[#wants + 2] = rate, rate, ids[i] end
      end
      if key then
        n = n + 1
        which[n], names[n], taken[2 * n - 1], taken[2 * n] = i, key, key, ids[i]
      end
    end
  end
  if n == 0 and #wants == 0 then return end

  local keys, seen = {}, rate_begin(rates, wants)
  views, touched = {}, {}
  if n > 0 then
    local values = redis.call('HMGET', slots, limit_mark, unpack(names, 1, n))
    if #wants == 0 then
      admit_limited(ids, specs, n, which, names, taken, values)
      return store_views()
    end
    for j = 1, n do keys[which[j]], views[names[j]] = names[j], values[j + 1] end
  end
  for i = 1, #ids do
    if (keys[i] or rated[i]) and not admit(ids[i], keys[i] and limit_of(specs[i]), rated[i], seen) then specs[i] = false end
  end
  store_views()
  rate_end(rates, seen, now_us)
end

-- lease claims tasks and appends them to the reply.
local function lease(ids, reply)
  local specs = redis.call('HMGET', tasks, unpack(ids))
  admit_all(ids, specs)
  local ends, at, n, with = {}, 5, 0, {}
  for i = 1, #ids do
    local id, spec = ids[i], specs[i]
    if spec then
      ends[n + 1], ends[n + 2] = until_ms, id .. suffix
      reply[at + 1], reply[at + 2] = id, spec
      at, n = at + 2, n + 2
    end
  end
  if n == 0 then return end
  redis.call('ZADD', leased, unpack(ends))
  if redis.call('EXISTS', runs) == 1 then
    local state, position = redis.call('HMGET', runs, unpack(ids)), 0
    for i = 1, #ids do
      if specs[i] then
        position = position + 1
        if state[i] then with[#with + 1], with[#with + 2] = position, state[i] end
      end
    end
  end
  if redis.call('EXISTS', unique) == 1 then free_unique(ids, specs) end
  reply[5] = with
  if overdue_max > 0 then next_ms = math.min(next_ms, from_ms + lease_ms) end
end

-- serve takes the step in the queue whose keys are bound.
local function serve(claim, order)
  local reply = {0, 0, 0, {}, {}}
  local pushed = 0
  if overdue_max > 0 then
    local ended = expired(leased)
    if #ended > 0 then pushed, reply[4] = reap(ended) end
    local due = expired(delayed)
    task_push(due)
    reply[2], reply[3], pushed = #due, #ended, pushed + #due
  end

  local length, left = {}, 0
  for p = 1, 4 do
    length[p] = redis.call('LLEN', lists[task_priorities[p]])
    left = left + length[p]
  end
  if left == 0 or redis.call('EXISTS', paused) == 1 then return reply end
  if claim > 0 then
    local ids = {}
    for p, n in ipairs(shares(length, left, claim, order)) do
      if n > 0 then
        local popped = redis.call('LPOP', lists[task_priorities[p]], n)
        if #ids == 0 then
          ids = popped
        else
          for _, id in ipairs(popped) do ids[#ids + 1] = id end
        end
      end
    end
    soonest_ms = 1001
    lease(ids, reply)
    left = left - #ids + task_slots_pass()
    if soonest_ms <= 1000 then redis.call('PUBLISH', tasks, string.format('delayed %.0f', soonest_ms)) end
  end
  reply[1] = left
  -- A worker that promotes more than it can take wakes the others.
  if pushed > 0 and left > 0 then redis.call('PUBLISH', tasks, 'ready') end
  return reply
end

local answer, queue = {now_ms, -1}, queues
for i = claims, #ARGV, claims_row do
  -- bind: claims at i
  use(queue)
  answer[#answer + 1] = serve(tonumber(claim), order)
  queue = queue + queues_row
end
if next_ms < math.huge then answer[2] = math.max(0, next_ms - now_ms) end
return answer
