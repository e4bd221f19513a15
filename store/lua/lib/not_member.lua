-- not_member is the refusal for whoever is no member: a private group does not show that it exists.
local function not_member(visibility)
  return {visibility == 'public' and 'FORBIDDEN' or 'NOTFOUND'}
end
