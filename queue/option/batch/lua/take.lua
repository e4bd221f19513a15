-- Closes the batch of a claimed carrier and returns its tasks. A worker that has lost its lease changes nothing.
-- Repeating it, also under a later claim, returns the same tasks.
--
-- KEYS  queue:work
-- ARGV  id token
--
-- Returns {id, spec, id, ...}: the tasks in the order in which they came, {} if the token was stale.
-- Errors: none of its own.
-- bind: work at queue
-- include: common
if not redis.call('ZSCORE', leased, id .. ' ' .. token) then return {} end
task_batch_seal(batches, id, redis.call('HGET', tasks, id) or '')
return task_batch_tasks(batches, id)
