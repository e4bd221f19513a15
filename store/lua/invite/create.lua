-- Keeps an invitation of a group, for an owner, an admin or an operator.
--
-- KEYS  meta members invites invited audit
-- ARGV  caller operator:flag group invite record open_max:int kept_max:int audit_id audited audits_max:int
--   invite  its id
--   audit_id, audited  what the audit gets of it
-- Returns {OK, the record, or that of the same id which was there before}
-- Refuses NOTFOUND, FORBIDDEN; INVITES if open_max can be used already
-- include: base
-- include: invitation
-- include: audit
local epoch, visibility = unpack(redis.call('HMGET', meta, 'epoch', 'visibility'))
if not epoch then return {'NOTFOUND'} end
local refused = may_manage(visibility, caller, operator)
if refused then return refused end
local had = redis.call('HGET', invites, invite)
if had then return {'OK', had} end
local now_ms, open, ended = clock_ms(), 0, {}
local all = redis.call('HGETALL', invites)
for n = 1, #all, 2 do
  local i = invitation_of(all[n + 1])
  if invitation_open(i, now_ms) then open = open + 1 else ended[#ended + 1] = {id = all[n], made = tonumber(i.made_ms)} end
end
if open >= open_max then return {'INVITES'} end

-- The oldest of those that ended make room.
table.sort(ended, function(a, b) return a.made < b.made or a.made == b.made and a.id < b.id end)
for n = 1, open + #ended + 1 - kept_max do
  redis.call('HDEL', invites, ended[n].id)
  redis.call('HDEL', invited, ended[n].id)
end
redis.call('HSET', invites, invite, record)
redis.call('HSET', invited, invite, group)
note_audit(epoch, audit_id, audited)
return {'OK', record}
