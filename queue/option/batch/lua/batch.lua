-- Returns the tasks of a carrier, in whatever state it is. Writes nothing.
--
-- KEYS  queue:work
-- ARGV  id
--
-- Returns {id, spec, id, ...}: the tasks in the order in which they came, {} if there is no such carrier.
-- Errors: none of its own.
-- bind: work at queue
-- include: common
return task_batch_tasks(batches, id)
