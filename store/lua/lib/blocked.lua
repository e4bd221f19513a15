-- In a direct group, who is blocked by the other stands among those who are muted, until a time that no mute has.
local BLOCKED = '9007199254740991'

local function is_blocked(until_ms) return until_ms and tonumber(until_ms) >= tonumber(BLOCKED) end
