-- Replaces the account of a user if it still is as it was read, or removes it, and puts the user on the list of known ones.
--
-- KEYS  account profile users unused audit
-- ARGV  user before after fresh audit_id audited audits_max:int
--   before  text that was read; '': there was none
--   after   '' removes it
--   fresh   1: of a user whom the server does not know yet
--   audit_id, audited  what the audit gets of it; '': nothing
-- Returns {OK}
-- Refuses CONFLICT, EXISTS
-- include: audit
local now = redis.call('GET', account) or ''
if now == after then return {'OK'} end -- a repetition: what is written is never the same twice
if now ~= before then return {'CONFLICT'} end
if fresh == '1' and (redis.call('ZSCORE', users, user) or redis.call('EXISTS', profile) == 1) then return {'EXISTS'} end

if after == '' then
  redis.call('UNLINK', account)
else
  redis.call('SET', account, after)
  redis.call('ZADD', users, 0, user)
  redis.call('SREM', unused, user)
end
note_audit('-', audit_id, audited)
return {'OK'}
