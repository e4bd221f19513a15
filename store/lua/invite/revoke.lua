-- Revokes an invitation of a group.
--
-- KEYS  members invites
-- ARGV  invite
-- Returns {OK}
-- Refuses NOTFOUND
-- include: base
-- include: invitation
local record = redis.call('HGET', invites, invite)
if not record then return {'NOTFOUND'} end
local i = invitation_of(record)
i.revoked = '1'
redis.call('HSET', invites, invite, invitation_text(i))
return {'OK'}
