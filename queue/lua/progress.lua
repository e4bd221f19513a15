-- Records the progress of a running task. A worker that has lost its lease changes nothing.
--
-- KEYS  queue:work
-- ARGV  id token done total
--
-- Returns 1, or 0 if the token was stale.
-- Errors: none of its own.
-- bind: work at queue
-- include: common
if not redis.call('ZSCORE', leased, id .. ' ' .. token) then return 0 end
local old = redis.call('HGET', runs, id)
local run = task_run(old)
run.done, run.total = done, total
task_write_run(id, run, tonumber(string.match(old or '', '^%d+ %d+ (%d+)') or 0))
return 1
