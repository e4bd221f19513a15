-- Pages through the users of a partition who are present. Some may be there more than once. Only reads.
--
-- KEYS  nodes present
-- ARGV  cursor limit:int
--   cursor  0 to begin
-- Returns {OK, cursor ('0' at the end), users...}
-- include: base
local alive = {}
for _, node in ipairs(redis.call('ZRANGEBYSCORE', nodes, '(' .. int(clock_ms()), '+inf')) do alive[node] = true end
local page = redis.call('HSCAN', present, cursor, 'COUNT', int(limit))
local reply = {'OK', page[1]}
for i = 1, #page[2], 2 do
  local node, user = string.match(page[2][i], '^(%S+) (%S+)$')
  if alive[node] then reply[#reply + 1] = user end
end
return reply
