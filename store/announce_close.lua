-- include: int.lua
-- Writes what came of a run that is over in every partition. An announcement that does not recur is done then, and its
-- lists of targets go.
--
-- KEYS  1 announcement, then its lists of targets
-- ARGV  1 run, 2 total, 3 delivered, 4 failed
-- Returns {OK}
local record = KEYS[1]
local run, total, delivered, failed = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

local m = redis.call('HMGET', record, 'state', 'run', 'closed', 'next_ms')
local state = m[1]
if not state or m[2] ~= run or m[3] == '1' then return {'OK'} end
if state == 'running' then state = m[4] == '0' and 'done' or 'pending' end

redis.call('HSET', record, 'state', state, 'closed', '1', 'total', total, 'delivered', delivered, 'failed', failed)
if state ~= 'pending' and #KEYS > 1 then redis.call('UNLINK', unpack(KEYS, 2)) end
return {'OK'}
