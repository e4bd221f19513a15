-- Puts a group under legal hold, or changes the reason of its hold, which keeps its start.
--
-- KEYS  meta audit
-- ARGV  reason by at_ms audit_id audited audits_max:int
--   audit_id, audited  what the audit gets of it
-- Returns {OK, since ms}
-- Refuses NOTFOUND
-- include: audit
local epoch, has, has_by = unpack(redis.call('HMGET', meta, 'epoch', 'hold', 'hold_by'))
if not epoch then return {'NOTFOUND'} end

if has ~= reason or has_by ~= by then note_audit(epoch, audit_id, audited) end
redis.call('HSET', meta, 'hold', reason, 'hold_by', by)
redis.call('HSETNX', meta, 'hold_ms', at_ms)
return {'OK', redis.call('HGET', meta, 'hold_ms')}
