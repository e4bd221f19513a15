-- Returns what count_days.lua has counted within the last days. Writes nothing.
--
-- KEYS  days
-- ARGV  last:int
--   last  how many days, the present one included
--
-- Returns {today, field, value, ...}: today counts from 1970-01-01, by the clock of Redis; the rest
-- is as in count_days.lua.
-- Errors: none of its own.
local today = math.floor(tonumber(redis.call('TIME')[1]) / 86400)
local reply, all = {today}, redis.call('HGETALL', days)
for i = 1, #all, 2 do
  local day = string.match(all[i], '^(%d+) ')
  if day and tonumber(day) > today - last then reply[#reply + 1], reply[#reply + 2] = all[i], all[i + 1] end
end
return reply
