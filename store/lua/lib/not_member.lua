-- not_member returns the refusal for a user who is not a member: a private group does not reveal that it exists.
local function not_member(visibility)
  if visibility ~= 'public' then return {'NOTFOUND'} end
  return {'FORBIDDEN', 'members'}
end
