-- Returns periodic tasks: those that are named, or a page in the order of their names. Only
-- reads.
--
-- KEYS  periodic
-- ARGV  after limit:int names...
--   after  the page begins behind this name; limit: how many at most
--
-- Returns {now_ms, left, then of each: name, declaration, paused, last_ms, next_ms, fired}
--   left  how many follow the page
-- Errors: none of its own.
-- include: periodic
local found, left = {}, 0
if names <= #ARGV then
  for i = names, #ARGV do found[#found + 1] = ARGV[i] end
else
  for _, field in ipairs(redis.call('HKEYS', periodic)) do
    if field > after and not string.find(field, ' ', 1, true) then found[#found + 1] = field end
  end
  table.sort(found)
  left = math.max(0, #found - limit)
end
local t = redis.call('TIME')
local reply = {tonumber(t[1]) * 1000 + math.floor(tonumber(t[2]) / 1000), left}
for i = 1, #found - left do
  local declared, state = periodic_read(found[i])
  if declared then
    for _, value in ipairs({found[i], declared, state.paused and 1 or 0, state.last_ms, state.next_ms, state.fired}) do
      reply[#reply + 1] = value
    end
  end
end
return reply
