-- Reads an invitation with its group. Only reads.
--
-- KEYS  meta members invites
-- ARGV  invite
-- Returns {OK, the record, name of the group, members, 1 if its maker may still invite}
-- Refuses NOTFOUND
-- include: base
-- include: invitation
local record = redis.call('HGET', invites, invite)
if not record then return {'NOTFOUND'} end
return {'OK', record, redis.call('HGET', meta, 'name'), redis.call('HLEN', members), may_invite(invitation_of(record)) and 1 or 0}
