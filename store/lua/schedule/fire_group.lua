-- Fires a schedule into a group: the message, the new state of the schedule, and the task of its next occurrence.
--
-- KEYS  schedule core:work last_id meta members msgs seen read skip senders reactions reacted joined wants files_named mutes slow expires own(by sent)... at... thread(threads replies)...
-- ARGV  schedule_id version run recurs:flag next_ms:int missed:int refused failed group_epoch channel group keys_max:int count:int
--       durable:flag more rows(from mark rest sent_ms key content)... mentions...
--   version      to run, see lib/fire.lua
--   group_epoch  of the group that the schedule was made for
--   channel      to mentions, see log/append.lua; one entry
-- Returns {OK, sent, id, then as lib/append.lua from the epoch on, or nothing if the request was done before},
--       {OK, refused}, {OK, stale} or {OK, early, ms to wait}
-- Refuses NOTFOUND; for a request also as lib/append.lua refuses an entry, and CONFLICT if the schedule has changed or ended.
--       CONFLICT also if the archive has changed since the root of the thread was read there
local anyone, bytes_added = false, 0
-- include: fire
local function append()
  -- include: append
end
return fire(function()
  -- A later group with the same id is another group.
  if redis.call('HGET', meta, 'epoch') ~= group_epoch then return {'NOTFOUND'} end
  local answer = append()
  local outcome = answer[5]
  if answer[1] ~= 'OK' then return answer end
  if type(outcome) == 'table' then return outcome end
  return {'OK', string.match(outcome, '^%d+'), unpack(answer, 2, 4)}
end)
