-- The clock of Redis in ms: rounded down for comparisons (nothing starts before its time), rounded up to count from
-- (nothing is shorter than asked for), and in us.
local function task_clock()
  local t = redis.call('TIME')
  local us = tonumber(t[1]) * 1000000 + tonumber(t[2])
  return math.floor(us / 1000), math.ceil(us / 1000), us
end
