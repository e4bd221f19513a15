-- Makes the deliveries of a group's newest entries to webhooks, and notes up to where that was done: both or neither, so
-- that there is one event for every entry.
--
-- KEYS  last_id meta seen msgs reactions reacted wants core:enqueue egress:enqueue
-- ARGV  group epoch generation before after waiting_max:int trim_id deliveries(id payload)...
--   before       id up to which there were events before
--   after        id up to which there are now
--   waiting_max  tasks that may be in a shard of the egress queue
--   trim_id      of a task that goes on where there is more to trim
--   deliveries   id and payload of each task
-- Returns {OK}
-- Refuses NOTFOUND (the group is gone), CONFLICT (another did it), WEBHOOKSFULL
-- include: trim
-- include: task_webhook
-- include: task_trim
local has_epoch, keep, backlog_max = unpack(redis.call('HMGET', meta, 'epoch', 'keep', 'backlog_max'))
if has_epoch ~= epoch then return {'NOTFOUND'} end
local current, position = webhook_position()
if current ~= generation or position ~= tonumber(before) then return {'CONFLICT'} end
local function waiting(queue)
  -- bind: enqueue at queue
  return redis.call('HLEN', tasks)
end
-- One delivery more than there is room for is taken, or a page that is larger than all of the room would never be.
if ARGV[deliveries] and waiting(egress) >= waiting_max then return {'WEBHOOKSFULL'} end
local last, now_ms = tonumber(redis.call('GET', last_id)), clock_ms()

redis.call('HSET', meta, 'events', generation .. ' ' .. after)
for i = deliveries, #ARGV, deliveries_row do
  -- bind: deliveries at i
  enqueue_delivery(egress, id, payload, now_ms)
end
-- What was only held for this may go now.
if trim_log(last, redis.call('ZCARD', msgs), tonumber(keep), tonumber(backlog_max)) then enqueue_trim(trim_id, epoch, now_ms) end
return {'OK'}
