-- include: schedule.lua
-- Changes a schedule that has not ended, and its task with it.
--
-- KEYS  1 schedule, 2..13 of the core queue (Work)
-- ARGV  1 id, 2 version that was read, 3 plan, 4 state (pending or paused), 5 next occurrence in ms
-- Returns {OK, then as schedule_record}
-- Refuses NOTFOUND; CONFLICT where it changed since it was read, or has ended
local key, wk = KEYS[1], 2
local id, version, plan, state, next_ms = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

local r = redis.call('HMGET', key, 'state', 'version')
if not r[1] then return {'NOTFOUND'} end
if not schedule_waits(r[1]) or r[2] ~= version then return {'CONFLICT'} end
local now_ms = clock_ms()

task_cancel(wk, id .. '.' .. version)
version = schedule_next_version(version)
redis.call('HSET', key, 'plan', plan, 'state', state, 'version', version, 'next_ms', next_ms)
if state == 'pending' then schedule_at(wk, id, version, next_ms, now_ms) end
return {'OK', unpack(schedule_record(key))}
