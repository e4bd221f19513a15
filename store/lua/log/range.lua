-- Reads entries of a log and its end, for the node itself: as many entries as fit, or, on a server that is full and queues
-- nothing, instead of a transaction of log/lasts.lua and a range. Only reads.
--
-- KEYS  last_id meta msgs
-- ARGV  from limit:int bytes_max:int
--   bytes_max  of all entries together; the entry that reaches it is the last. 0: no bound
-- Returns {OK, last (-1 if there is no group), epoch (''), trimmed (as in group/infos.lua), list of messages}
local epoch, trimmed = unpack(redis.call('HMGET', meta, 'epoch', 'trimmed'))
local list, bytes, at, more = {}, 0, from, true
local turn = bytes_max > 0 and 4 or limit -- how many are read before their size is looked at: the next ones may be larger
while more do
  local asked = math.min(turn, limit - #list)
  local some = redis.call('ZRANGEBYSCORE', msgs, at, '+inf', 'LIMIT', 0, asked)
  for i = 1, #some do
    if bytes_max > 0 and bytes >= bytes_max then break end
    list[#list + 1], bytes = some[i], bytes + #some[i]
  end
  more = #some == asked and #list < limit and bytes < bytes_max
  at, turn = more and '(' .. string.match(some[asked], '^%d+'), math.min(32, 2 * turn)
end
return {'OK', epoch and redis.call('GET', last_id) or '-1', epoch or '', trimmed or '', list}
