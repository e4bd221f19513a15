-- public_member returns a group's entry in the index of public groups. An id contains no NUL, so the last one separates
-- the two whatever the name contains.
local function public_member(name, group) return name .. '\0' .. group end
