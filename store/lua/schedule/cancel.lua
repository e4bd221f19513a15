-- include: schedule.lua
-- Cancels a schedule. Its task is taken away; one that runs already finds another version.
--
-- KEYS  1 schedule, 2..13 of the core queue (Work)
-- ARGV  1 id
-- Returns {OK}, also where it is cancelled already
-- Refuses NOTFOUND; CONFLICT where it has ended otherwise
local key, wk, id = KEYS[1], 2, ARGV[1]

local r = redis.call('HMGET', key, 'state', 'version')
if not r[1] then return {'NOTFOUND'} end
if r[1] == 'cancelled' then return {'OK'} end
if not schedule_waits(r[1]) then return {'CONFLICT'} end
local now_ms = clock_ms()

task_cancel(wk, id .. '.' .. r[2])
redis.call('HSET', key, 'state', 'cancelled', 'version', schedule_next_version(r[2]))
schedule_over(wk, id, now_ms)
return {'OK'}
