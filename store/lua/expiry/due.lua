-- Reads which messages of a group have to go by now, those whose time came first, at most so many. Only reads.
--
-- KEYS  meta expires
-- ARGV  epoch limit:int
-- Returns {OK, ids}
-- Refuses NOTFOUND (this life of the group is over)
-- include: base
if redis.call('HGET', meta, 'epoch') ~= epoch then return {'NOTFOUND'} end
return {'OK', redis.call('ZRANGEBYSCORE', expires, '-inf', int(clock_ms()), 'LIMIT', 0, limit)}
