-- Ends the ban of a user: an owner, an admin or an operator does.
--
-- KEYS  meta members bans banned audit
-- ARGV  user caller operator:flag audit_id audited audits_max:int
--   audit_id, audited  what the audit gets of it
-- Returns {OK}
-- Refuses NOTFOUND, FORBIDDEN
-- include: manage
-- include: audit
local epoch, visibility = unpack(redis.call('HMGET', meta, 'epoch', 'visibility'))
if not epoch then return {'NOTFOUND'} end
local refused = may_manage(visibility, caller, operator)
if refused then return refused end
if redis.call('HDEL', bans, user) == 0 then return {'NOTFOUND'} end
redis.call('ZREM', banned, user)
if redis.call('EXISTS', bans) == 0 then redis.call('HDEL', meta, 'banned') end
note_audit(epoch, audit_id, audited)
return {'OK'}
