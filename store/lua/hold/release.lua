-- Ends the legal hold on a group, if there is one. What was kept because of it is removed, and freed in the background.
-- Tasks then erase what erasures could not, and remove what became too old meanwhile.
--
-- KEYS  meta erasures kept retention core:enqueue audit
-- ARGV  group task_id retain_id audit_id audited audits_max:int
--   audit_id, audited  what the audit gets of it
-- Returns {OK, 1 if there was one}
-- Refuses NOTFOUND
-- include: base
-- include: audit
-- include: retention
-- include: task_erase_held
-- include: task_retain
local epoch, hold = unpack(redis.call('HMGET', meta, 'epoch', 'hold'))
if not epoch then return {'NOTFOUND'} end
if not hold then return {'OK', 0} end
local days, now_ms = days_of_group(), clock_ms()

redis.call('HDEL', meta, 'hold', 'hold_by', 'hold_ms')
redis.call('UNLINK', kept)
note_audit(epoch, audit_id, audited)
if redis.call('EXISTS', erasures) == 1 then enqueue_erase_held(task_id, epoch, now_ms) end
if days > 0 then enqueue_retain(retain_id, epoch, days, 0, now_ms) end
return {'OK', 1}
