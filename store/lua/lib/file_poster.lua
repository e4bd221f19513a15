-- include: not_member
-- include: muted
-- needs: meta members user
-- file_poster returns the refusal for a user who may not post in the group, and so may not upload to it; nil if they may.
local function file_poster()
  local epoch, visibility, post, muted = unpack(redis.call('HMGET', meta, 'epoch', 'visibility', 'post', 'muted'))
  if not epoch then return {'NOTFOUND'} end
  local role = redis.call('HGET', members, user)
  if not role then return not_member(visibility) end
  if post == 'none' then return {'FORBIDDEN', 'nobody'} end
  if post == 'admins' and string.sub(role, 1, 6) == 'member' then return {'FORBIDDEN', 'posters'} end
  return refuse_muted(muted, user)
end
