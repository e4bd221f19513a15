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
-- include: clock
local suffix = ' ' .. token
local now_ms, from_ms, now_us = task_clock()
local until_ms = string.format('%.0f', from_ms + lease_ms)
local next_ms = math.huge
local drops_left = math.huge -- dead tasks that may still be dropped, of all queues

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

-- A step creates its functions again, and each name that they use from outside costs a search among all such names: with
-- the functions for everything, that was half the time of a step that claims nothing. So what a step usually does is in none,
-- and the rest is included where it is needed.
local find = string.find
local answer, queue = {now_ms, -1}, queues
for i = claims, #ARGV, claims_row do
  -- bind: claims at i
  -- bind: work at queue
  queue = queue + queues_row
  claim = tonumber(claim)
  local ready_lists = {critical, high, normal, low}
  local reply, pushed = {0, 0, 0, {}, {}}, 0

  if overdue_max > 0 then
    -- The usual answer is "none", and this is the cheapest way to get it.
    local first_end = tonumber(redis.call('ZRANGE', leased, 0, 0, 'WITHSCORES')[2]) or math.huge
    local first_due = tonumber(redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')[2]) or math.huge
    if first_end <= now_ms or first_due <= now_ms then
      -- include: reap
      task_drops_left = math.min(task_drops_left, drops_left)
      local ended = expired(leased)
      if #ended > 0 then pushed, reply[4] = reap(ended) end
      local due = expired(delayed)
      task_push(due)
      reply[2], reply[3], pushed = #due, #ended, pushed + #due
      drops_left = task_drops_left
    else
      next_ms = math.min(next_ms, first_end, first_due)
    end
  end

  local length, left = {}, 0
  for p = 1, 4 do
    length[p] = redis.call('LLEN', ready_lists[p])
    left = left + length[p]
  end
  if left > 0 and redis.call('EXISTS', paused) == 1 then left = 0 end
  if left > 0 and claim > 0 then
    local ids = {}
    for p, n in ipairs(shares(length, left, claim, order)) do
      if n > 0 then
        local popped = redis.call('LPOP', ready_lists[p], n)
        if #ids == 0 then
          ids = popped
        else
          for _, id in ipairs(popped) do ids[#ids + 1] = id end
        end
      end
    end
    left = left - #ids
    local specs = redis.call('HMGET', tasks, unpack(ids))

    -- Most tasks have no options: that costs each of them a look for the first \r.
    for j = 1, #ids do
      local from = specs[j] and find(specs[j], '\r', 1, true)
      if from and from < (find(specs[j], '\n', 1, true) or 0) then
        -- include: begin
        break
      end
    end

    local ends, at, m = {}, 5, 0
    for j = 1, #ids do
      local id, spec = ids[j], specs[j]
      if spec then
        ends[m + 1], ends[m + 2] = until_ms, id .. suffix
        reply[at + 1], reply[at + 2] = id, spec
        at, m = at + 2, m + 2
      end
    end
    if m > 0 then
      redis.call('ZADD', leased, unpack(ends))
      if redis.call('EXISTS', runs) == 1 then
        local state, position, with = redis.call('HMGET', runs, unpack(ids)), 0, reply[5]
        for j = 1, #ids do
          if specs[j] then
            position = position + 1
            if state[j] then with[#with + 1], with[#with + 2] = position, state[j] end
          end
        end
      end
      if redis.call('EXISTS', unique) == 1 then
        -- include: unique_free
        unique_free(ids, specs)
      end
      if overdue_max > 0 then next_ms = math.min(next_ms, from_ms + lease_ms) end
    end
  end
  reply[1] = left
  -- A worker that promotes more than it can take wakes the others.
  if pushed > 0 and left > 0 then redis.call('PUBLISH', tasks, 'ready') end
  answer[#answer + 1] = reply
end
if next_ms < math.huge then answer[2] = math.max(0, next_ms - now_ms) end
return answer
