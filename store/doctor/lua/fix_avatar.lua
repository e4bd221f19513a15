-- Lists an avatar, or removes one that nobody shows: its bytes, and from the list.
--
-- KEYS  avatar avatars
-- ARGV  user id shown:flag
-- Returns {OK}
local kept = redis.call('HGET', avatar, 'id')
if shown then
  if kept == id then redis.call('HSET', avatars, id, user) end
  return {'OK'}
end
if kept == id then redis.call('UNLINK', avatar) end
redis.call('HDEL', avatars, id)
return {'OK'}
