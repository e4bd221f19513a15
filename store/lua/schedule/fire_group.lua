-- Fires a schedule into a group: the message, the new state of the schedule, and the task of its next occurrence.
--
-- KEYS  schedule core:work last_id meta members msgs seen read skip senders sent by reactions reacted joined wants
--       named at...
-- ARGV  schedule_id version run recurs:flag next_ms:int missed:int refused failed group_epoch from kind mark rest sent_ms key
--       content reply_to target emoji removed:flag durable:flag channel keys_max:int emojis_max:int group task_id below same mentions...
--   version      to run, see lib/fire.lua
--   group_epoch  of the group that the schedule was made for
--   from         to mentions, see log/append.lua
-- Returns {OK, sent, then the rest as lib/append.lua returns it, or nothing if the request was done before},
--       {OK, refused}, {OK, stale} or {OK, early, ms to wait}
-- Refuses NOTFOUND; for a request also as lib/append.lua, and CONFLICT if the schedule has changed or ended
local anyone, bytes_added = false, 0
-- include: fire
-- include: retry
-- include: entry
return fire(function()
  -- A later group with the same id is another group.
  if redis.call('HGET', meta, 'epoch') ~= group_epoch then return {'NOTFOUND'} end
  -- include: append
end)
