-- include: not_member
-- needs: members
-- role_of returns the role of a user, or false for a user who is not a member.
local function role_of(user)
  local value = redis.call('HGET', members, user)
  return value and string.match(value, '^%S+')
end

-- may_manage refuses a caller who is neither an operator nor the owner or an admin; nil: go on.
local function may_manage(visibility, caller, operator)
  if operator then return nil end
  local role = role_of(caller)
  if not role then return not_member(visibility) end
  if role ~= 'owner' and role ~= 'admin' then return {'FORBIDDEN', 'managers'} end
  return nil
end
