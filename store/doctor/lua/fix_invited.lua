-- Makes the list of invitations say of one whose it is. A group that is gone has none.
--
-- KEYS  last_id meta members invites invited
-- ARGV  group invite
-- Returns {OK}
if redis.call('EXISTS', last_id, meta, members) == 0 then redis.call('HDEL', invites, invite) end
if redis.call('HEXISTS', invites, invite) == 1 then
  redis.call('HSET', invited, invite, group)
elseif redis.call('HGET', invited, invite) == group then
  redis.call('HDEL', invited, invite)
end
return {'OK'}
