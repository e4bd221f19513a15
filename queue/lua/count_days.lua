-- Counts runs of the day that it is, by the clock of Redis (UTC), and forgets days that are too
-- old. A server that repeats a call whose answer it has not seen is counted once.
--
-- KEYS  days
-- ARGV  server seq:int keep:int runs(kind done failed buried crashed)...
--   server  who counts: an id that no other server has
--   seq     of the call, higher than that of the server's call before
--   keep    days to keep, the present one included
--
-- A field is "<day> <kind>", where day counts from 1970-01-01, and its value "<done> <failed>
-- <buried> <crashed>". Beside them, "@<server>" -> "<seq> <day>", and "@" -> the day on which old
-- days were looked for last.
--
-- Returns 1, or 0 if the call was counted before.
-- Errors: none of its own.
local today = math.floor(tonumber(redis.call('TIME')[1]) / 86400)
local known = string.match(redis.call('HGET', days, '@' .. server) or '', '^%d+')
if known and tonumber(known) >= seq then return 0 end

local looked = tonumber(redis.call('HGET', days, '@') or '0')
if today > looked then
  for _, field in ipairs(redis.call('HKEYS', days)) do
    local day, first = string.match(field, '^(%d+) '), today - keep + 1
    -- A server that has stopped repeats nothing.
    if not day and #field > 1 then day, first = string.match(redis.call('HGET', days, field), '%d+$'), today - 1 end
    if day and tonumber(day) < first then redis.call('HDEL', days, field) end
  end
end
local changes = {'@', tostring(today), '@' .. server, string.format('%.0f %d', seq, today)}
for i = runs, #ARGV, runs_row do
  -- bind: runs at i
  local field = today .. ' ' .. kind
  local was = redis.call('HGET', days, field) or '0 0 0 0'
  local a, b, c, d = string.match(was, '^(%d+) (%d+) (%d+) (%d+)$')
  local n = #changes
  changes[n + 1] = field
  changes[n + 2] = string.format('%.0f %.0f %.0f %.0f', (a or 0) + done, (b or 0) + failed, (c or 0) + buried, (d or 0) + crashed)
end
redis.call('HSET', days, unpack(changes))
return 1
