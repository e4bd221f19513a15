-- Appends an announcement to the log of a group, whoever its members are, and moves its part on. A group that refuses
-- it counts as failed.
--
-- KEYS  part last_id meta members msgs seen read skip senders sent by reactions reacted joined wants
--       named core:enqueue at...
-- ARGV  run cursor next_cursor last_page:flag from kind mark rest sent_ms key content reply_to target emoji removed:flag
--       durable:flag channel keys_max:int emojis_max:int group task_id below same mentions...
--   cursor       where the page begins
--   next_cursor  where it ends
--   from         to mentions, see log/append.lua
-- Returns {OK, 0} if the part is elsewhere, {OK, 1} if the group refused it, else {OK, 1, then as lib/append.lua}
local anyone, bytes_added = true, 0
-- include: announce_fence
local p = announce_at()
if not p then return {'OK', 0} end

local function append()
  -- include: append
end
local appended = append()
local took = appended[1] == 'OK'
announce_move(p, took and 1 or 0, took and 0 or 1)
if not took then return {'OK', 1} end
return {'OK', 1, unpack(appended)}
