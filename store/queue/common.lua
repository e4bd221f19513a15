-- What the scripts share that move tasks which exist already. They all take the keys that
-- Keys.work() lists, in this order.
--
-- A value of runs is "<token> <attempts> <crashes> <last error>". A token of 0 means that
-- nobody holds the task, so comparing tokens is all it takes to know who may still write.
local tasks, counts, unique, delayed = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local leased, runs, dead, paused = KEYS[9], KEYS[10], KEYS[11], KEYS[12]

-- The clock of Redis in ms: rounded down to compare with (nothing starts before its time),
-- rounded up to count from (nothing is shorter than asked for).
local function task_clock()
  local t = redis.call('TIME')
  local us = tonumber(t[1]) * 1000000 + tonumber(t[2])
  return math.floor(us / 1000), math.ceil(us / 1000)
end

local function task_run(run)
  if not run then return '0', 0, 0, '' end
  local token, attempts, crashes, err = string.match(run, '^(%d+) (%d+) (%d+) (.*)$')
  return token, tonumber(attempts), tonumber(crashes), err
end

local function task_write_run(id, attempts, crashes, err)
  redis.call('HSET', runs, id, string.format('0 %d %d ', attempts, crashes) .. err)
end

-- task_push makes tasks ready, each at the tail of its priority, in the order given.
-- An id without a specification is one that somebody removed: it goes nowhere.
local function task_push(ids)
  if #ids == 0 then return end
  local specs = redis.call('HMGET', tasks, unpack(ids))
  local lists = {}
  for i, id in ipairs(ids) do
    local key = specs[i] and KEYS[task_ready[string.match(specs[i], '^%a+')]]
    if key then
      lists[key] = lists[key] or {}
      table.insert(lists[key], id)
    end
  end
  for i = 5, 8 do
    if lists[KEYS[i]] then redis.call('RPUSH', KEYS[i], unpack(lists[KEYS[i]])) end
  end
end

-- task_bury keeps a task as a dead letter, and of the dead letters the newest dead_max.
local function task_bury(id, now_ms, dead_max)
  redis.call('ZADD', dead, string.format('%.0f', now_ms), id)
  redis.call('HINCRBY', counts, 'buried', 1)
  local over = redis.call('ZCARD', dead) - dead_max
  if over <= 0 then return end
  local oldest = redis.call('ZRANGE', dead, 0, math.min(over, 100) - 1)
  redis.call('ZREM', dead, unpack(oldest))
  redis.call('HDEL', tasks, unpack(oldest))
  redis.call('HDEL', runs, unpack(oldest))
  redis.call('HINCRBY', counts, 'dropped', #oldest)
end
