-- Begins the erasure of a user with its task, or finds the one that is under way. The avatar, which anybody can read, goes at once.
--
-- KEYS  erasure erasing avatar avatars core:enqueue audit
-- ARGV  erasure_id user task_id audit_id audited audits_max:int
--   audit_id, audited  what the audit gets of it
--   erasing  of the user: the id of the erasure under way
-- Returns {OK, id}
-- include: base
-- include: audit
-- include: task_erasure
-- include: avatar
local under_way = redis.call('GET', erasing)
if under_way then return {'OK', under_way} end
local now_ms = clock_ms()

drop_avatar('')
redis.call('SET', erasing, erasure_id)
redis.call('HSET', erasure, 'user', user, 'state', 'pending', 'phase', '', 'cursor', '', 'messages', '0', 'created_ms', int(now_ms))
note_audit('-', audit_id, audited)
enqueue_erase(task_id, now_ms)
return {'OK', erasure_id}
