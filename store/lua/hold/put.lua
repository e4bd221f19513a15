-- Puts a group under legal hold, or changes the reason of its hold, which keeps its start.
--
-- KEYS  meta
-- ARGV  reason by at_ms
-- Returns {OK, since ms}
-- Refuses NOTFOUND
if redis.call('EXISTS', meta) == 0 then return {'NOTFOUND'} end

redis.call('HSET', meta, 'hold', reason, 'hold_by', by)
redis.call('HSETNX', meta, 'hold_ms', at_ms)
return {'OK', redis.call('HGET', meta, 'hold_ms')}
