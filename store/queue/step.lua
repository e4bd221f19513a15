-- One step of a worker in one partition: promotes what is due, takes back the leases that
-- have ended, claims as many ready tasks as the worker has hands free, and says when to
-- come back. One script, so that waiting costs one command.
--
-- KEYS  those of Keys.work()
-- ARGV  claim        tasks to claim at most; 0 claims none
--       lease_ms     length of their lease
--       sweep        tasks to promote, and leases to take back, at most; 0 looks at neither
--       order        a digit for each claim: 1 critical, 2 high, 3 normal, 4 low. Whose
--                    list is empty cedes its turn to the highest that is not
--       crashes_max  a task whose lease ended that often is buried
--       backoff_ms   pause after the second such end, doubled with each further one
--       jitter       0 to 999: where in these pauses the first task falls
--       dead_max     dead letters to keep
--
-- Returns {wait_ms, left, promoted, reaped, buried, id, token, run, spec, id, ...}
--   wait_ms   until the next due time or end of a lease, at least 0; -1 = none is known
--   left      ready tasks that were not claimed; 0 while the queue is paused
--   buried    how many of the reaped
--   run       what the task went through before: "<token> <attempts> <crashes> <error>" or ''
-- Errors: none of its own.
local claim, lease_ms, sweep = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local order, crashes_max, backoff_ms = ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6])
local jitter, dead_max = tonumber(ARGV[7]), tonumber(ARGV[8])
local now_ms, from_ms = task_clock()
local now = string.format('%.0f', now_ms)

-- expired lists what lies at or before now in a sorted set, at most sweep of it. The head
-- is asked for first: the usual answer is "nothing", and it is the cheapest question.
local function expired(key)
  local head = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
  if not head[2] or tonumber(head[2]) > now_ms then return {}, tonumber(head[2]) end
  local ids = redis.call('ZRANGEBYSCORE', key, '-inf', now, 'LIMIT', 0, sweep)
  redis.call('ZREM', key, unpack(ids))
  head = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
  return ids, tonumber(head[2])
end

-- The pauses of tasks that lost their workers together are spread by the golden ratio:
-- when one of them is what kills workers, the others get to run without it.
local function reap(ids)
  local state, again, buried = redis.call('HMGET', runs, unpack(ids)), {}, 0
  for i, id in ipairs(ids) do
    local _, attempts, crashes, err = task_run(state[i])
    crashes = crashes + 1
    if crashes >= crashes_max then
      local reason = string.format('lease ended %d times', crashes)
      if err ~= '' then reason = reason .. '; before: ' .. err end
      task_write_run(id, attempts, crashes, reason)
      task_bury(id, now_ms, dead_max)
      buried = buried + 1
    else
      task_write_run(id, attempts, crashes, err)
      if crashes == 1 then
        again[#again + 1] = id
      else
        local share = (jitter / 1000 + i * 0.618034) % 1
        local due_ms = from_ms + math.ceil(backoff_ms * 2 ^ math.min(crashes - 2, 10) * share)
        redis.call('ZADD', delayed, string.format('%.0f', due_ms), id)
      end
    end
  end
  task_push(again)
  redis.call('HINCRBY', counts, 'crashed', #ids)
  return #again, buried
end

local next_ms
local promoted, reaped, buried, pushed = 0, 0, 0, 0
if sweep > 0 then
  local ids, lease_next = expired(leased)
  if #ids > 0 then pushed, buried = reap(ids) end
  reaped = #ids
  local due, due_next = expired(delayed)
  task_push(due)
  promoted, pushed = #due, pushed + #due
  next_ms = math.min(lease_next or math.huge, due_next or math.huge)
end

local reply = {-1, 0, promoted, reaped, buried}

-- How many of each priority: the lengths of the lists and the order decide it, so every
-- list is popped once however many tasks are claimed.
local function shares(length, n)
  local take = {0, 0, 0, 0}
  for i = 1, n do
    local p = tonumber(string.sub(order, i, i)) or 1
    if take[p] == length[p] then
      p = 1
      while p <= 4 and take[p] == length[p] do p = p + 1 end
      if p > 4 then break end
    end
    take[p] = take[p] + 1
  end
  return take
end

local function lease(ids)
  local specs = redis.call('HMGET', tasks, unpack(ids))
  local state = redis.call('HMGET', runs, unpack(ids))
  local token = redis.call('HINCRBY', counts, 'token', #ids) - #ids
  local end_ms = from_ms + lease_ms
  local until_ms = string.format('%.0f', end_ms)
  local ends, written, waiting, owners = {}, {}, {}, {}
  for i, id in ipairs(ids) do
    if specs[i] then
      local mine = string.format('%.0f', token + i)
      local old = state[i] or '0 0 0 '
      ends[#ends + 1], ends[#ends + 2] = until_ms, id
      written[#written + 1] = id
      written[#written + 1] = mine .. string.sub(old, string.find(old, ' ', 1, true), -1)
      local key = string.match(specs[i], '^%S+ %S+ %S+ %S+ %S+ %S+ ([^\n]+)\n')
      if key then waiting[#waiting + 1], owners[#owners + 1] = key, id end
      reply[#reply + 1], reply[#reply + 2] = id, mine
      reply[#reply + 1], reply[#reply + 2] = state[i] or '', specs[i]
    end
  end
  if #ends == 0 then return end
  redis.call('ZADD', leased, unpack(ends))
  redis.call('HSET', runs, unpack(written))
  if sweep > 0 then next_ms = math.min(next_ms, end_ms) end
  if #waiting == 0 then return end
  -- The key may have gone to a younger task meanwhile, while this one waited to be retried.
  local holders, free = redis.call('HMGET', unique, unpack(waiting)), {}
  for i, holder in ipairs(holders) do
    if holder == owners[i] then free[#free + 1] = waiting[i] end
  end
  if #free > 0 then redis.call('HDEL', unique, unpack(free)) end
end

local length, left = {}, 0
for p = 1, 4 do
  length[p] = redis.call('LLEN', KEYS[4 + p])
  left = left + length[p]
end
if left > 0 and redis.call('EXISTS', paused) == 1 then left, claim = 0, 0 end
if left > 0 and claim > 0 then
  local ids = {}
  for p, n in ipairs(shares(length, claim)) do
    if n > 0 then
      for _, id in ipairs(redis.call('LPOP', KEYS[4 + p], n)) do ids[#ids + 1] = id end
    end
  end
  left = left - #ids
  lease(ids)
end

-- Whoever promotes more than it can take itself wakes the others.
if pushed > 0 and left > 0 then redis.call('PUBLISH', tasks, 'ready') end

reply[2] = left
if next_ms and next_ms < math.huge then reply[1] = math.max(0, next_ms - now_ms) end
return reply
