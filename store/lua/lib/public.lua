-- public_member is a group's entry in the index of public groups. The id holds no NUL, so the last one divides them whatever
-- the name holds.
local function public_member(name, group) return name .. '\0' .. group end
