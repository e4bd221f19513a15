-- Appends an announcement to the log of a group, even if its sender is not a member, and advances its part. A group that refuses
-- it counts as failed.
--
-- KEYS  part last_id meta members msgs seen read skip senders reactions reacted joined wants files_named mutes slow expires core:enqueue own(by sent)... at... thread(threads replies)...
-- ARGV  run cursor next_cursor last_page:flag channel group keys_max:int count:int durable:flag more
--       rows(from mark rest sent_ms key content)... mentions...
--   cursor       where the page begins
--   next_cursor  where it ends
--   channel      to mentions, see log/append.lua; one entry
-- Returns {OK, 0} if the part is elsewhere, {OK, 1} if the group refused it, else {OK, 1, then as lib/append.lua}
local anyone, bytes_added = true, 0
-- include: announce_fence
local p = announce_at()
if not p then return {'OK', 0} end

local function append()
  -- include: append
end
local appended = append()
local took = appended[1] == 'OK' and type(appended[5]) == 'string'
announce_move(p, took and 1 or 0, took and 0 or 1)
if not took then return {'OK', 1} end
return {'OK', 1, unpack(appended)}
