-- needs: avatar avatars
-- drop_avatar removes the avatar of a user, unless it is the one that is named.
local function drop_avatar(named)
  local kept = redis.call('HGET', avatar, 'id')
  if kept and kept ~= named then
    redis.call('HDEL', avatars, kept)
    redis.call('UNLINK', avatar)
  end
end
