-- Records that what a row of a table stands for was used now.
--
-- KEYS  rows rows_used
-- ARGV  id
-- Returns {OK}
-- include: base
if redis.call('HEXISTS', rows, id) == 0 then return {'OK'} end
redis.call('HSET', rows_used, id, int(clock_ms()))
return {'OK'}
