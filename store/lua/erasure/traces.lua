-- Removes what a group keeps about a user besides its log. A user who is a member again keeps what counts their unread messages.
--
-- KEYS  members senders sent by at levels notified
-- ARGV  user
-- Returns {OK}
redis.call('UNLINK', sent)
if redis.call('HEXISTS', members, user) == 1 then return {'OK'} end
redis.call('UNLINK', by, at)
redis.call('ZREM', senders, user)
redis.call('HDEL', levels, user)
redis.call('ZREM', notified, user)
return {'OK'}
