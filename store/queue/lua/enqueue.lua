-- Enqueues a batch of tasks.
--
-- KEYS  queue:enqueue
-- ARGV  batch(id kind payload priority due_ms delay_ms unique attempts_max deadline_ms options)...
--   due_ms    0 = none
--   delay_ms  counts from now if there is no due_ms
--   options   the options of its specification, as option.go writes them; '' = none
--
-- Returns an array: for each task 1, or 0 if its unique key or its id already exists.
-- Errors: none of its own.
-- include: enqueue
local t = redis.call('TIME')
local us = tonumber(t[1]) * 1000000 + tonumber(t[2])
return task_enqueue_all(queue, ARGV, math.floor(us / 1000), math.ceil(us / 1000))
