-- Enqueues a batch of tasks.
--
-- KEYS  queue:enqueue batches
-- ARGV  batch(id kind payload priority due_ms delay_ms unique attempts_max deadline_ms options)...
--   due_ms    0 = none
--   delay_ms  counts from now if there is no due_ms
--   options   the options of its specification, as option.go writes them; '' = none. With a batch
--             they end in "\rcarrier <id>": what to call the carrier if the task begins a batch
--
-- Returns an array: for each task 1, 0 if its id already exists, the id of the task that took its
-- unique key if that is taken, or 2 if its limit refuses it.
-- Errors: none of its own.
-- bind: enqueue at queue
-- include: enqueue
local t = redis.call('TIME')
local us = tonumber(t[1]) * 1000000 + tonumber(t[2])
local now_ms, from_ms = math.floor(us / 1000), math.ceil(us / 1000)

-- One look at the options of all tasks: without any, nothing that is about options runs.
local optioned = false
for at = batch, #ARGV, batch_row do
  -- bind: batch at at
  if options ~= '' then
    optioned = true
    break
  end
end
if not optioned then return task_enqueue_all(queue, ARGV, now_ms, from_ms, true) end
-- include: join
return join_all()
