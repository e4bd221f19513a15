-- Records that a user gets notified of an inbox up to a seq and enqueues the task that makes the deliveries, unless the
-- user was notified of that much before, or has acked it.
--
-- KEYS  inbox_base core:enqueue
-- ARGV  epoch seq task_id priority payload
-- Returns {OK}
-- include: task_deliver
local has_epoch, notified, acked = unpack(redis.call('HMGET', inbox_base, 'epoch', 'told', 'acked'))
if has_epoch ~= epoch then return {'OK'} end
if tonumber(seq) <= math.max(tonumber(notified or 0), tonumber(acked or 0)) then return {'OK'} end

redis.call('HSET', inbox_base, 'told', seq)
enqueue_inbox_deliveries(task_id, priority, payload, clock_ms())
return {'OK'}
