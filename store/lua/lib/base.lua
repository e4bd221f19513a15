-- int formats a whole number with all its digits: tostring and .. print only 14. -0 becomes 0: Redis does not accept
-- -0, and would end the script after its first writes.
local function int(n)
  return string.format('%.0f', n + 0)
end

-- clock_ms is the one clock that decides anything shared.
local function clock_ms()
  local t = redis.call('TIME')
  return tonumber(t[1]) * 1000 + math.floor(tonumber(t[2]) / 1000)
end
