-- Removes what a group keeps about a user besides its log. A user who is a member again keeps what counts their unread messages.
--
-- KEYS  meta members senders sent by at levels notified slow bans requests asked invites invited
-- ARGV  user
-- Returns {OK}
-- include: invitation
-- include: asked
redis.call('UNLINK', sent)
if redis.call('HEXISTS', members, user) == 1 then return {'OK'} end
redis.call('UNLINK', by, at)
redis.call('ZREM', senders, user)
redis.call('HDEL', levels, user)
redis.call('ZREM', notified, user)
redis.call('ZREM', slow, user)
drop_request(redis.call('HGET', meta, 'asked'), user)
-- A ban stays, without why.
local ban = string.match(redis.call('HGET', bans, user) or '', '^%d+ %d+ %S+ ')
if ban then redis.call('HSET', bans, user, ban) end
local all = redis.call('HGETALL', invites)
for n = 1, #all, 2 do
  if invitation_of(all[n + 1]).by == user then
    redis.call('HDEL', invites, all[n])
    redis.call('HDEL', invited, all[n])
  end
end
return {'OK'}
