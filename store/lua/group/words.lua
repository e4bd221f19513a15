-- Replaces the lists of words of a group: an owner, an admin or an operator does.
--
-- KEYS  meta members audit
-- ARGV  caller operator:flag words audit_id audited audits_max:int
--   words              '': it has none
--   audit_id, audited  what the audit gets of it
-- Returns {OK}
-- Refuses NOTFOUND, FORBIDDEN
-- include: manage
-- include: audit
local epoch, visibility, has = unpack(redis.call('HMGET', meta, 'epoch', 'visibility', 'words'))
if not epoch then return {'NOTFOUND'} end
local refused = may_manage(visibility, caller, operator)
if refused then return refused end
if words == (has or '') then return {'OK'} end

if words == '' then
  redis.call('HDEL', meta, 'words')
else
  redis.call('HSET', meta, 'words', words)
end
note_audit(epoch, audit_id, audited)
return {'OK'}
