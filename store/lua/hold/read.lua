-- Reads the legal hold on a group. Only reads.
--
-- KEYS  meta
-- Returns {OK, reason ('' if there is none), by, since ms}
-- Refuses NOTFOUND
local epoch, reason, by, since_ms = unpack(redis.call('HMGET', meta, 'epoch', 'hold', 'hold_by', 'hold_ms'))
if not epoch then return {'NOTFOUND'} end
return {'OK', reason or '', by or '', since_ms or '0'}
