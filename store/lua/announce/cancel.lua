-- Cancels an announcement: no further run starts, and the task of the next one is removed.
--
-- KEYS  announcement core:work targets...
--   targets  the lists of its targets
-- Returns {OK, its newest run, 1 if the run is closed}
-- Refuses NOTFOUND; CONFLICT if everything is done
-- include: task_cancel
local state, run, closed, task = unpack(redis.call('HMGET', announcement, 'state', 'run', 'closed', 'task'))
if not state then return {'NOTFOUND'} end
if state == 'done' then return {'CONFLICT'} end

if state ~= 'cancelled' then
  redis.call('HSET', announcement, 'state', 'cancelled', 'next_ms', '0')
  if task ~= '' then task_cancel(core, task) end
  -- During a run its pages may still be reading them: then closing it removes them.
  if closed == '1' and KEYS[targets] then redis.call('UNLINK', unpack(KEYS, targets)) end
end
return {'OK', run, tonumber(closed)}
