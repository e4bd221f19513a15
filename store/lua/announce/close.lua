-- include: int.lua
-- Writes what came of a run that is over in every partition. An announcement that does not recur is done then, and its
-- lists of targets go.
--
-- KEYS  1 announcement, then its lists of targets
-- ARGV  1 run, 2 total, 3 delivered, 4 failed
-- Returns {OK}
local record = KEYS[1]
local run, total, delivered, failed = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4]

local m = redis.call('HMGET', record, 'state', 'run', 'next_ms', 'targets')
local state = m[1]
if not state or m[2] ~= run then return {'OK'} end
if state == 'running' then state = m[3] == '0' and 'done' or 'pending' end

-- Where it was cancelled, parts may not have started.
total = math.max(total, tonumber(m[4]) or 0)
redis.call('HSET', record, 'state', state, 'closed', '1', 'total', int(total), 'delivered', delivered, 'failed', failed)
if state ~= 'pending' and #KEYS > 1 then redis.call('UNLINK', unpack(KEYS, 2)) end
return {'OK'}
