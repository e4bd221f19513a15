-- Ends the runs of a batch of tasks. Every entry needs the token of its claim: with any other
-- one (the lease ended and was reaped, or the task was cancelled) it has no effect and is
-- reported.
--
-- KEYS  queue:work
-- ARGV  dead_max:int dead_bytes_max:int accounts:flag groups:int done... others(verdict id token delay_ms err limited)...
--   dead_max  dead letters to keep; dead_bytes_max: their bytes
--   accounts  some of the completed tasks in done have an account
--   groups    of completed tasks in done, each with the token of one claim
--   done      of each group, its token and how many tasks it has; then the ids of all these tasks. Unless none of them
--             has a limit or an account and there are no others: then m, and the m keys of the limits of the first m of
--             them; and how many successors the others have, and for each the id of the task before it and what
--             task_enqueue_all takes
--   verdict   what happens to one of the others:
--             complete  as those in done, with what they leave behind: the batch that it carries, or the
--             unique key that it keeps until it ends. If delay_ms is not 0, its result, err, is kept for
--             that long
--             retry   the handler failed: an attempt is counted, and it runs again after delay_ms
--             bury    the same, but the task becomes a dead letter
--             expire  its deadline passed before it began: a dead letter, no attempt counted
--             snooze  no attempt counted, its crashes reset: to the tail of its list now, or
--                     after delay_ms
--             return  no attempt counted: back to the head of its list, in front of tasks that were
--                     returned before it, and with its unique key unless a younger task has that. It
--                     keeps the slot of its limit, and its next run is not counted by its rate
--   limited   1: it has a limit. Another verdict than return frees its slot, unless it keeps that
--             until it ends, and passes it on
--
-- Returns an array: the positions, from 1, of the entries whose token was stale.
-- Errors: none of its own.
-- bind: work at queue
local stale = {}

-- The completed tasks. Mostly none is stale, so their ids are as they stand in ARGV.
local ids_at = done + 2 * groups
local more_at = ids_at
for group = done, ids_at - 1, 2 do
  local size = group + 1
  local suffix, after = ' ' .. ARGV[group], more_at + ARGV[size]
  for i = more_at, after - 1 do
    if redis.call('ZREM', leased, ARGV[i] .. suffix) == 0 then stale[#stale + 1] = i - ids_at + 1 end
  end
  more_at = after
end
local ids, from, to = ARGV, ids_at, more_at - 1
if #stale > 0 then
  ids, from = {unpack(ids, from, to)}, 1
  for i = #stale, 1, -1 do table.remove(ids, stale[i]) end
  to = #ids
end
local sizes = {} -- of those that have an account
if to >= from then
  for i = from, accounts and to or 0 do
    if string.find(ids[i], '~', 1, true) then sizes[#sizes + 1], sizes[#sizes + 2] = ids[i], redis.call('HSTRLEN', tasks, ids[i]) end
  end
  redis.call('HINCRBY', counts, 'done', to - from + 1)
  redis.call('HDEL', tasks, unpack(ids, from, to))
  if redis.call('EXISTS', runs) == 1 then redis.call('HDEL', runs, unpack(ids, from, to)) end
end
if more_at > #ARGV then return stale end

-- The keys of the limits of the first of them, whose slots are free now.
local freed, names, names_at = tonumber(ARGV[more_at]), ARGV, more_at + 1
local at, position = names_at + freed, more_at - ids_at
if freed > 0 and #stale > 0 then
  names, names_at = {unpack(names, names_at, at - 1)}, 1
  for i = #stale, 1, -1 do
    if stale[i] <= freed then table.remove(names, stale[i]) end
  end
  freed = #names
end
-- Mostly each is the only one that has a slot of its key, and nobody waits for it.
if freed > 0 then
  local holders, alone = redis.call('HMGET', slots, unpack(names, names_at, names_at + freed - 1)), 0
  while alone < freed and holders[alone + 1] == ids[from + alone] do alone = alone + 1 end
  if alone == freed then
    redis.call('HDEL', slots, unpack(names, names_at, names_at + freed - 1))
    freed = 0
  end
end
-- Mostly that is all, and the functions for the rest would cost more than what was done.
if at == #ARGV and freed == 0 and #sizes == 0 then return stale end

-- include: common
-- include: enqueue
local now_ms, from_ms, now_us = task_clock()
for i = 1, #sizes, 2 do task_account(counts, sizes[i], -1, sizes[i + 1]) end
if freed > 0 then
  task_slot_passed(limit_free_all(tasks, slots, parked, leased, lines, {unpack(ids, from, from + freed - 1)},
    {unpack(names, names_at, names_at + freed - 1)}))
end

local successors, follow, n = {}, {}, tonumber(ARGV[at])
at = at + 1
if n > 0 then
  -- include: then
  successors, at = then_read(at, n)
end

-- finish completes tasks that have something to free.
local function finish(ids)
  if #ids == 0 then return end
  for i, spec in ipairs(redis.call('HMGET', tasks, unpack(ids))) do
    local id, options = ids[i], spec and task_options(spec)
    task_account(counts, id, -1, spec and #spec or 0)
    if options then
      task_unhold(id, spec, options)
      task_batch_remove(counts, batches, id, spec)
    end
  end
  redis.call('HINCRBY', counts, 'done', #ids)
  redis.call('HDEL', tasks, unpack(ids))
  if redis.call('EXISTS', runs) == 1 then redis.call('HDEL', runs, unpack(ids)) end
end

local ready, soonest_ms, back, finished = false, math.huge, {}, {}
local until_ms, left = {}, {} -- of those that leave results behind
for i = at, #ARGV, others_row do
  -- bind: others at i
  delay_ms = tonumber(delay_ms)
  position = position + 1
  if redis.call('ZREM', leased, id .. ' ' .. token) == 0 then
    stale[#stale + 1] = position
  elseif verdict == 'complete' then
    finished[#finished + 1] = id
    if successors[id] then follow[#follow + 1] = successors[id] end
    if delay_ms > 0 then
      local n = #until_ms
      until_ms[n + 1], until_ms[n + 2] = string.format('%.0f', from_ms + delay_ms), id
      left[n + 1], left[n + 2] = id, string.format('%.0f ', now_ms) .. err
    end
  elseif verdict == 'return' then
    back[#back + 1] = id
  else
    local run = task_run(redis.call('HGET', runs, id))
    -- A task that snoozes has not killed its worker: a long task of many runs is not buried for the sum of their
    -- crashes.
    if verdict == 'snooze' then run.crashes = 0 else run.err = err end
    if verdict == 'retry' or verdict == 'bury' then
      run.attempts = run.attempts + 1
      redis.call('HINCRBY', counts, 'failed', 1)
    end
    task_write_run(id, run, from_ms + delay_ms)
    if verdict == 'bury' or verdict == 'expire' then
      task_bury(id, now_ms, dead_max, dead_bytes_max)
    else
      local limit = limited == '1' and limit_of(task_options(redis.call('HGET', tasks, id) or ''))
      if limit and not limit.keep then task_slot_free(id, limit) end
      if delay_ms > 0 then
        redis.call('ZADD', delayed, string.format('%.0f', from_ms + delay_ms), id)
        soonest_ms = math.min(soonest_ms, from_ms + delay_ms)
      else
        task_push({id})
        ready = true
      end
    end
  end
end
finish(finished)
if #left > 0 then
  -- include: keep
  keep(until_ms, left)
end
if #passed > 0 then task_slots_pass() end
for _, id in ipairs(back) do
  local spec = redis.call('HGET', tasks, id)
  if spec then
    redis.call('LPUSH', task_list(spec), id)
    local key = task_unique(spec)
    local options = task_options(spec)
    if key and not (options and unique_span(options)) then unique_take(unique, expiring, key, id, now_ms) end
    local rate = options and rate_of(options)
    if rate then rate_return(rates, rate, id, now_us) end
  end
  ready = true
end
for _, one_by_one in ipairs(follow) do task_enqueue_all(queue, one_by_one, now_ms, from_ms) end
if ready then redis.call('PUBLISH', tasks, 'ready') end
task_due_signal(tasks, delayed, soonest_ms, now_ms)
return stale
