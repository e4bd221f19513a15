-- include: int.lua
-- include: task_enqueue.lua
-- Notes that a user is told of an inbox up to a seq and enqueues the task that makes the deliveries, unless that much was told
-- or acked before.
--
-- KEYS  1 inbox:base, 2..9 of the core queue
-- ARGV  1 epoch, 2 seq, 3 id for the task, 4 its priority, 5 its payload
-- Returns {OK}
local base_key, qk = KEYS[1], 2
local epoch, seq, task_id, priority, payload = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

local m = redis.call('HMGET', base_key, 'epoch', 'told', 'acked')
if m[1] ~= epoch then return {'OK'} end
if tonumber(seq) <= math.max(tonumber(m[2] or 0), tonumber(m[3] or 0)) then return {'OK'} end

redis.call('HSET', base_key, 'told', seq)
task_enqueue(qk, task_id, 'tell', payload, priority, 0, clock_ms(), '')
return {'OK'}
