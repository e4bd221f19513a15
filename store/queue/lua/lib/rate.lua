-- Shared by the scripts that let tasks with a rate begin. rates is a ZSET, with scores in us:
--   "<key>"   when the rate is free of all runs that have begun or were promised a time: the theoretical arrival time of
--             the generic cell rate algorithm (ITU-T I.371)
--   "\n<id>"  a task that was promised a time, or given back before it began: until when that counts
-- A score in the past means as much as none. Those who write here remove some of them.

-- rate_of returns the rate of a task: us from one run to the next, how many may begin at once after a pause, how late
-- a promised run may begin, in us, and the key. Without a rate, nil. It looks at the head alone: a payload may hold
-- anything.
local function rate_of(spec)
  local options = string.match(spec, '^[^\r\n]*(\r[^\n]*)')
  if not options then return nil end
  local n, per_us, burst, key = string.match(options, '\rrate (%d+) (%d+) (%d+) ([^\r]+)')
  if not key then return nil end
  local every_us = tonumber(per_us) / tonumber(n)
  return {every_us = every_us, burst = tonumber(burst), late_us = math.max(burst * every_us, 100000), key = key}
end

local function rate_score(us) return string.format('%.3f', us) end

-- rate_tidy removes scores in the past, more than one task can leave.
local function rate_tidy(rates, now_us)
  local past = redis.call('ZRANGEBYSCORE', rates, '-inf', rate_score(now_us), 'LIMIT', 0, 10)
  if #past > 0 then redis.call('ZREM', rates, unpack(past)) end
end

-- rate_wait returns in how many us a task may begin. If that is 0, it begins now and counts. Otherwise the time is
-- promised to it, and counts: it has to ask again then.
local function rate_wait(rates, rate, id, now_us)
  local mine = redis.call('ZSCORE', rates, '\n' .. id)
  if mine then
    local from_us = tonumber(mine) - rate.late_us
    -- A score of this size is exact to a quarter of a microsecond.
    if now_us < from_us - 1 then return from_us - now_us end
    redis.call('ZREM', rates, '\n' .. id)
    if now_us <= tonumber(mine) then return 0 end
  end
  rate_tidy(rates, now_us)
  local free_us = math.max(tonumber(redis.call('ZSCORE', rates, rate.key) or 0), now_us)
  local from_us = free_us - (rate.burst - 1) * rate.every_us
  redis.call('ZADD', rates, rate_score(free_us + rate.every_us), rate.key)
  if from_us <= now_us then return 0 end
  redis.call('ZADD', rates, rate_score(from_us + rate.late_us), '\n' .. id)
  return from_us - now_us
end

-- rate_return notes that a task that was let begin has not begun: its next run is not counted again.
local function rate_return(rates, rate, id, now_us)
  redis.call('ZADD', rates, rate_score(now_us + rate.late_us), '\n' .. id)
end

-- rate_drop forgets the time that a task was promised.
local function rate_drop(rates, id) redis.call('ZREM', rates, '\n' .. id) end
