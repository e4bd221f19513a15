-- include: manage
-- include: muted
-- may_write refuses who may not write in a group: post and muted are these fields of it; nil: go on.
local function may_write(visibility, post, muted, caller)
  local role = role_of(caller)
  if not role then return not_member(visibility) end
  if post == 'none' then return {'FORBIDDEN', 'nobody'} end
  if role == 'member' and post == 'admins' then return {'FORBIDDEN', 'posters'} end
  return refuse_muted(muted, caller)
end
