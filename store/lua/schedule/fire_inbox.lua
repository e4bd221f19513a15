-- include: fire.lua
-- include: inbox_put.lua
-- Fires a schedule into an inbox: the item, what became of the schedule, and the task of its next occurrence.
--
-- KEYS  1 schedule, 2..13 of the core queue (Work), 14.. as inbox/append.lua
-- ARGV  1..8 as schedule/fire_group.lua, 9.. as inbox/append.lua
-- Returns as schedule/fire_group.lua, with what inbox_put answers
-- Refuses as schedule/fire_group.lua, with what inbox_put refuses
local f = fire_args()
local k, a = inbox_args(14, 9)
return fire(f, function() return inbox_put(k, a) end)
