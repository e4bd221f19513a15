-- Cancels an announcement: no run of it begins any longer, and the task that waits for the next one goes.
--
-- KEYS  announcement core:work targets...
--   targets  the lists of its targets
-- Returns {OK, its newest run, 1 where the run is closed}
-- Refuses NOTFOUND; CONFLICT where all is done
-- include: task_cancel
local state, run, closed, task = unpack(redis.call('HMGET', announcement, 'state', 'run', 'closed', 'task'))
if not state then return {'NOTFOUND'} end
if state == 'done' then return {'CONFLICT'} end

if state ~= 'cancelled' then
  redis.call('HSET', announcement, 'state', 'cancelled', 'next_ms', '0')
  if task ~= '' then task_cancel(core, task) end
  -- While a run is on its way its pages may still be reading them: they go when it is closed.
  if closed == '1' and KEYS[targets] then redis.call('UNLINK', unpack(KEYS, targets)) end
end
return {'OK', run, tonumber(closed)}
