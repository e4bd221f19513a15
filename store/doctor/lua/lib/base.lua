-- int writes a whole number with all its digits: tostring and .. print only 14.
local function int(n) return string.format('%.0f', n) end
