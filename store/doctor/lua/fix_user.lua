-- Corrects what is derived about a user in a group: managers are in managers, and only members have cursors.
--
-- KEYS  meta members joined managers seen read levels notified senders member_data
-- ARGV  user
-- Returns {OK}
if redis.call('EXISTS', meta) == 0 then return {'OK'} end
local value = redis.call('HGET', members, user)
local role = value and string.match(value, '^%S+')
local joined_id = redis.call('ZSCORE', joined, user)
if role == 'owner' or role == 'admin' then
  if joined_id then redis.call('ZADD', managers, joined_id, user) end
  return {'OK'}
end
redis.call('ZREM', managers, user)
if not value then
  redis.call('ZREM', seen, user)
  redis.call('ZREM', read, user)
  redis.call('ZREM', notified, user)
  redis.call('HDEL', levels, user)
  redis.call('HDEL', member_data, user)
end
return {'OK'}
