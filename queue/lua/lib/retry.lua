-- needs: tasks counts unique expiring delayed runs dead batches
-- task_retry makes a dead or delayed task ready now, whose state and specification task_find returned. A dead one starts
-- over: no attempts, no crashes. The caller wakes the workers.
local function task_retry(id, state, spec, now_ms)
  local run = redis.call('HGET', runs, id)
  if run or state == 'dead' then
    run = task_run(run)
    if state == 'dead' then run.attempts, run.crashes = 0, 0 end
    task_write_run(id, run, now_ms)
  end
  if state == 'dead' then
    task_account(counts, id, 1, #spec)
    redis.call('HINCRBY', counts, 'dead_bytes', -task_size(id))
    local options = task_options(spec)
    if options and unique_holds(options) then unique_take(unique, expiring, task_unique(spec), id, now_ms) end
  end
  redis.call('ZREM', state == 'dead' and dead or delayed, id)
  task_push({id})
end
