-- Puts a group under legal hold, or gives its hold another reason. It lasts since the first time.
--
-- KEYS  meta
-- ARGV  reason by at_ms
-- Returns {OK, since ms}
-- Refuses NOTFOUND
if redis.call('EXISTS', meta) == 0 then return {'NOTFOUND'} end

redis.call('HSET', meta, 'hold', reason, 'hold_by', by)
redis.call('HSETNX', meta, 'hold_ms', at_ms)
return {'OK', redis.call('HGET', meta, 'hold_ms')}
