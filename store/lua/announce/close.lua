-- Records the result of a run that is over in every partition. That ends an announcement that does not recur, and
-- removes its lists of targets.
--
-- KEYS  announcement targets...
-- ARGV  run total:int delivered failed
-- Returns {OK}
-- include: base
local state, newest, next_ms, named = unpack(redis.call('HMGET', announcement, 'state', 'run', 'next_ms', 'targets'))
if not state or newest ~= run then return {'OK'} end
if state == 'running' then state = next_ms == '0' and 'done' or 'pending' end

-- If it was cancelled, parts may not have started.
total = math.max(total, tonumber(named) or 0)
redis.call('HSET', announcement, 'state', state, 'closed', '1', 'total', int(total), 'delivered', delivered, 'failed', failed)
if state ~= 'pending' and KEYS[targets] then redis.call('UNLINK', unpack(KEYS, targets)) end
return {'OK'}
