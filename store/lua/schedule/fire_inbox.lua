-- Fires a schedule into an inbox: the item, the new state of the schedule, and the task of its next occurrence.
--
-- KEYS  schedule core:work inbox inbox_base inbox_senders inbox_server inbox_sent inbox_by blocks grown users unused wants reachable
-- ARGV  schedule_id version run recurs:flag next_ms:int missed:int refused failed from rest mark sent_ms key content system:flag
--       to_strangers:flag items_max:int cause by_max:int keys_max:int epoch channel user notify author
--   version  to run, see lib/fire.lua
--   from     to notify, see inbox/append.lua
-- Returns as schedule/fire_group.lua, with what lib/inbox_put.lua returns
-- Refuses as schedule/fire_group.lua, with what lib/inbox_put.lua refuses
local sent = inbox_sent
-- include: fire
-- include: inbox_put
return fire(function() return inbox_put(user, channel, inbox, inbox_base, inbox_senders, inbox_server) end)
