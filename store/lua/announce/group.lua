-- include: announce_fence.lua
-- include: append_entry.lua
-- include: append_args.lua
-- Appends an announcement to the log of a group, whoever its members are, and moves its part on. A group that does not
-- take it counts as failed.
--
-- KEYS  1 part, then as log/append.lua, with those of the core queue
-- ARGV  1 run, 2 cursor where the page begins, 3 cursor after it, 4 '1' for the last page, then as log/append.lua
-- Returns {OK, 0} where the part is elsewhere, {OK, 1} where the group did not take it, else {OK, 1, then as append_entry}
local part = KEYS[1]
local run, cursor, next_cursor, last = ARGV[1], ARGV[2], ARGV[3], ARGV[4] == '1'

local p = announce_at(part, run, cursor)
if not p then return {'OK', 0} end

local k, a = append_args(2, 5)
a.anyone = true
local appended = append_entry(k, a)
local took = appended[1] == 'OK'
announce_move(part, p, next_cursor, last, took and 1 or 0, took and 0 or 1)
if not took then return {'OK', 1} end
return {'OK', 1, unpack(appended)}
