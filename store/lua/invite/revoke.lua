-- Revokes an invitation of a group.
--
-- KEYS  meta members invites audit
-- ARGV  invite audit_id audited audits_max:int
--   audit_id, audited  what the audit gets of it
-- Returns {OK}
-- Refuses NOTFOUND
-- include: base
-- include: invitation
-- include: audit
local record = redis.call('HGET', invites, invite)
if not record then return {'NOTFOUND'} end
local i = invitation_of(record)
if i.revoked == '1' then return {'OK'} end

i.revoked = '1'
redis.call('HSET', invites, invite, invitation_text(i))
note_audit(redis.call('HGET', meta, 'epoch'), audit_id, audited)
return {'OK'}
