-- Reads what was written and removed in a table after a version. Only reads.
--
-- KEYS  tables rows rows_at rows_gone
-- ARGV  name after:int limit:int
--   limit  rows of each kind
-- Returns {OK, version up to which it is complete, version of the table, version up to which removals are forgotten, then id,
--       version and text ('': removed) of each row}
-- include: base
local now, forgotten = unpack(redis.call('HMGET', tables, name, name .. ':forgotten'))
local upto = tonumber(now or 0)
local from = '(' .. int(after)
local lists = {redis.call('ZRANGEBYSCORE', rows_at, from, '+inf', 'WITHSCORES', 'LIMIT', 0, limit)}
-- Who begins at nothing needs no removals.
lists[2] = after > 0 and redis.call('ZRANGEBYSCORE', rows_gone, from, '+inf', 'WITHSCORES', 'LIMIT', 0, limit) or {}
for _, list in ipairs(lists) do
  if #list == 2 * limit and tonumber(list[#list]) < upto then upto = tonumber(list[#list]) end
end
local reply = {'OK', int(upto), now or '0', forgotten or '0'}
for _, list in ipairs(lists) do
  for i = 1, #list, 2 do
    if tonumber(list[i + 1]) <= upto then
      reply[#reply + 1] = list[i]
      reply[#reply + 1] = int(list[i + 1])
      reply[#reply + 1] = redis.call('HGET', rows, list[i]) or ''
    end
  end
end
return reply
