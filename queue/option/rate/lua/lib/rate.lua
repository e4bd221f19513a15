-- Shared by the scripts that let tasks with a rate begin. rates is a ZSET, with scores in us:
--   "<key>"   when the rate is free of all runs that have begun or were promised a time: the theoretical arrival time of
--             the generic cell rate algorithm (ITU-T I.371)
--   "\n<id>"  a task that was promised a time, or given back before it began: until when that counts
-- A score in the past means as much as none. Those who write here remove some of them.

-- rate_of finds the rate among the options of a task: us from one run to the next, how many may begin at once after a
-- pause, how late a promised run may begin, in us, and the key. Without a rate, nil.
local function rate_of(options)
  local n, per_us, burst, key = string.match(options, '\rrate (%d+) (%d+) (%d+) ([^\r]+)')
  if not key then return nil end
  local every_us = tonumber(per_us) / tonumber(n)
  return {every_us = every_us, burst = tonumber(burst), late_us = math.max(burst * every_us, 100000), key = key}
end

local function rate_score(us) return string.format('%.3f', us) end

-- rate_begin returns what rate_wait needs: the scores of the keys and the tasks in wants, {rate, id, ...}.
local function rate_begin(rates, wants)
  local names, seen = {}, {score = {}, tasks = #wants / 2}
  for i = 1, #wants, 2 do names[i], names[i + 1] = wants[i].key, '\n' .. wants[i + 1] end
  if #names == 0 then return seen end
  for i, score in ipairs(redis.call('ZMSCORE', rates, unpack(names))) do seen.score[names[i]] = tonumber(score or 0) end
  return seen
end

-- rate_wait returns in how many us a task may begin. If that is 0, it begins now and counts. Otherwise the time is
-- promised to it, and counts: it has to ask again then. rate_end must follow.
local function rate_wait(seen, rate, id, now_us)
  local score, mine = seen.score, '\n' .. id
  if score[mine] > 0 then
    local from_us, until_us = score[mine] - rate.late_us, score[mine]
    -- A score of this size is exact to a quarter of a microsecond.
    if now_us < from_us - 1 then return from_us - now_us end
    score[mine] = 0
    if now_us <= until_us then return 0 end
  end
  local free_us = math.max(score[rate.key], now_us)
  local from_us = free_us - (rate.burst - 1) * rate.every_us
  score[rate.key] = free_us + rate.every_us
  if from_us <= now_us then return 0 end
  score[mine] = from_us + rate.late_us
  return from_us - now_us
end

-- rate_end writes what rate_wait has changed, and removes scores in the past: more than the tasks can leave.
local function rate_end(rates, seen, now_us)
  if seen.tasks == 0 then return end
  local anew, gone = {}, {}
  for name, score in pairs(seen.score) do
    if score > 0 then
      anew[#anew + 1], anew[#anew + 2] = rate_score(score), name
    elseif string.byte(name) == 10 then
      gone[#gone + 1] = name
    end
  end
  if #anew > 0 then redis.call('ZADD', rates, unpack(anew)) end
  for _, name in ipairs(redis.call('ZRANGEBYSCORE', rates, '-inf', rate_score(now_us), 'LIMIT', 0, 3 * seen.tasks + 7)) do
    gone[#gone + 1] = name
  end
  if #gone > 0 then redis.call('ZREM', rates, unpack(gone)) end
end

-- rate_return notes that a task that was let begin has not begun: its next run is not counted again.
local function rate_return(rates, rate, id, now_us)
  redis.call('ZADD', rates, rate_score(now_us + rate.late_us), '\n' .. id)
end

-- rate_drop forgets the time that a task was promised.
local function rate_drop(rates, id) redis.call('ZREM', rates, '\n' .. id) end
