-- include: int.lua
-- include: task_cancel.lua
-- Cancels an announcement: no run of it begins any longer, and the task that waits for the next one goes.
--
-- KEYS  1 announcement, 2..13 of the core queue (Work), then its lists of targets
-- ARGV  none
-- Returns {OK, its newest run, 1 where the run is closed}
-- Refuses NOTFOUND; CONFLICT where all is done
local record = KEYS[1]

local m = redis.call('HMGET', record, 'state', 'run', 'closed', 'task')
local state, run, closed, task = m[1], m[2], m[3], m[4]
if not state then return {'NOTFOUND'} end
if state == 'done' then return {'CONFLICT'} end

if state ~= 'cancelled' then
  redis.call('HSET', record, 'state', 'cancelled', 'next_ms', '0')
  if task ~= '' then task_cancel(2, task) end
  -- While a run is on its way its pages may still be reading them: they go when it is closed.
  if closed == '1' and #KEYS > 13 then redis.call('UNLINK', unpack(KEYS, 14)) end
end
return {'OK', run, tonumber(closed)}
