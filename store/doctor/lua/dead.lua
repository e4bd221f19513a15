-- Sums up the bytes of dead letters of a queue in one partition, of some ranks of them. Pages between which no count
-- changed are of one instant: whatever moves a dead letter changes one. Only reads.
--
-- KEYS  queue:work
-- ARGV  from:int limit:int
-- Returns {OK, rank to go on from or 0, bytes of these, the bytes that are counted, what tells whether anything changed}
-- bind: work at queue
local page, bytes = redis.call('ZRANGE', dead, from, from + limit - 1), 0
for _, id in ipairs(page) do bytes = bytes + redis.call('HSTRLEN', tasks, id) end
local totals = redis.call('HMGET', counts, 'dead_bytes', 'buried', 'dropped', 'deleted')
for i = 1, 4 do totals[i] = totals[i] or '0' end
return {'OK', #page == limit and from + limit or 0, bytes, totals[1], redis.call('ZCARD', dead) .. ' ' .. table.concat(totals, ' ')}
