-- include: manage
-- include: muted
-- may_pin refuses who may not pin: a member may who manages, and where the group lets all of them, who may write. In a direct group, which nobody
-- manages, both may. who, post, direct and muted are these fields of the group; nil: go on.
local function may_pin(visibility, who, post, direct, muted, caller, operator)
  if operator then return nil end
  local role = role_of(caller)
  if not role then return not_member(visibility) end
  if role == 'owner' or role == 'admin' then return nil end
  if (who or direct and 'members') ~= 'members' then return {'FORBIDDEN', 'managers'} end
  if post == 'none' then return {'FORBIDDEN', 'nobody'} end
  if post == 'admins' then return {'FORBIDDEN', 'posters'} end
  return refuse_muted(muted, caller)
end
