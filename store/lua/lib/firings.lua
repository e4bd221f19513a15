-- include: base
-- include: prune
-- needs: firings
-- When schedules of a user fire: at most firings_max of them within any minute, so that nobody occupies the workers of
-- everyone with schedules for one moment. A schedule that recurs counts with its next firing.

-- firings_full tells whether the minute in which a schedule would fire at next_ms is full.
local function firings_full(schedule_id, next_ms, firings_max)
  local found = redis.call('ZRANGEBYSCORE', firings, int(next_ms - 59999), int(next_ms + 59999), 'WITHSCORES',
    'LIMIT', 0, 2 * firings_max + 1)
  local times = {}
  for i = 1, #found, 2 do
    if found[i] ~= schedule_id then times[#times + 1] = tonumber(found[i + 1]) end
  end
  if #times >= 2 * firings_max then return true end
  -- The fullest minute begins with one of the firings, or with the new one.
  local after = #times + 1
  local stop = 1
  for start, at_ms in ipairs(times) do
    if at_ms >= next_ms then
      after = start
      break
    end
    while stop <= #times and times[stop] < at_ms + 60000 do stop = stop + 1 end
    if stop - start >= firings_max then return true end
  end
  return #times - after + 1 >= firings_max
end

-- firings_put records when a schedule fires next, and forgets what has fired more than a minute ago.
local function firings_put(schedule_id, next_ms, now_ms)
  prune(firings, now_ms - 60000)
  redis.call('ZADD', firings, int(next_ms), schedule_id)
end
