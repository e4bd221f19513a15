-- needs: tasks counts runs leased dead batches slots parked rates lines queue
-- include: cancel
-- task_remove removes a task, in whatever state it is. A running one loses its lease, so its
-- result has no effect, and its worker gets a signal. Returns the state that it was in, '' if
-- there is none.
local function task_remove(id)
  local state, _, member, spec = task_find(id)
  if not state then return '' end
  if state == 'delayed' or state == 'ready' or state == 'parked' then
    -- A task that is in no list either (removed by hand) has no state.
    return task_cancel(queue, id) == 1 and state or ''
  end
  local options = task_options(spec)
  if state == 'leased' then
    redis.call('ZREM', leased, member)
    redis.call('PUBLISH', tasks, 'cancel ' .. member)
    task_account(counts, id, -1, #spec)
    if options then task_unhold(id, spec, options) end
  else
    redis.call('ZREM', dead, id)
    redis.call('HINCRBY', counts, 'dead_bytes', -task_size(id))
  end
  if options then task_batch_remove(counts, batches, id, spec) end
  redis.call('HDEL', tasks, id)
  redis.call('HDEL', runs, id)
  redis.call('HINCRBY', counts, 'deleted', 1)
  if #passed > 0 then task_slots_pass() end
  return state
end
