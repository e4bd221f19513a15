-- not_member is the refusal for whoever is no member: a private group does not show that it exists.
local function not_member(visibility)
  if visibility ~= 'public' then return {'NOTFOUND'} end
  return {'FORBIDDEN', 'members'}
end
