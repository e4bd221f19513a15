-- Notes how far a running task is. Whoever has lost its lease changes nothing.
--
-- KEYS  those of Keys.Work()
-- ARGV  id, token, done, total
--
-- Returns 1, or 0 when the token was stale.
-- Errors: none of its own.
local id = ARGV[1]
if not redis.call('ZSCORE', leased, id .. ' ' .. ARGV[2]) then return 0 end
local old = redis.call('HGET', runs, id)
local run = task_run(old)
run.done, run.total = ARGV[3], ARGV[4]
task_write_run(id, run, tonumber(string.match(old or '', '^%d+ %d+ (%d+)') or 0))
return 1
