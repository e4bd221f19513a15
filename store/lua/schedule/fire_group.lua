-- include: fire.lua
-- include: append_entry.lua
-- include: append_args.lua
-- Fires a schedule into a group: the message, what became of the schedule, and the task of its next occurrence.
--
-- KEYS  1 schedule, 2..13 of the core queue (Work), 14.. as log/append.lua
-- ARGV  1 id, 2 version, 3 name of a request to send now, or '', 4 '1' where it recurs, 5 next occurrence in ms or 0,
--       6 occurrences that are over without a message, 7 why nothing is to be sent, or '', 8 the payload of the task that
--       tells the owner, but for the code, 9 epoch of the group, 10.. as log/append.lua
-- Returns {OK, sent, then from the second place on as append_entry, or nothing where the request was done before},
--       {OK, refused}, {OK, stale} or {OK, early, ms to wait}
-- Refuses NOTFOUND; for a request as append_entry too, and CONFLICT where it changed or has ended
local f, epoch = fire_args(), ARGV[9]
local k, a = append_args(14, 10)
return fire(f, function()
  -- A group of the same id that was made later is another.
  if redis.call('HGET', k.meta, 'epoch') ~= epoch then return {'NOTFOUND'} end
  return append_entry(k, a)
end)
