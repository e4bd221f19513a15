-- Makes the deliveries of a group's newest entries to webhooks, and notes up to where that was done: both or neither, so
-- that there is one event for every entry.
--
-- KEYS  last_id meta seen msgs reactions reacted wants core:enqueue egress:enqueue
-- ARGV  group epoch generation before after waiting_max:int share_tasks:int share_bytes:int wait:flag trim_id deliveries(id webhook payload)...
--   before       id up to which there were events before
--   after        id up to which there are now
--   waiting_max  tasks that may be in a shard of the egress queue
--   share_tasks  deliveries of one webhook that may wait in this partition; what is over it is dropped, and counted
--   share_bytes  the same for what these take; the last one that begins below it is taken
--   wait         refuse where a webhook is over its share, instead: nobody else is held up
--   trim_id      of a task that goes on where there is more to trim
--   deliveries   id and payload of each task
-- Returns {OK, then each webhook with how many deliveries were dropped}
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
-- held tells how many deliveries of a webhook wait, and what they take.
local function held(queue, name)
  -- bind: enqueue at queue
  local n, bytes = unpack(redis.call('HMGET', counts, 'tasks~' .. name, 'bytes~' .. name))
  return {n = tonumber(n or 0), bytes = tonumber(bytes or 0), dropped = 0}
end
local function drop(queue, name, n)
  -- bind: enqueue at queue
  redis.call('HINCRBY', counts, 'dropped~' .. name, n)
end
-- One delivery more than there is room for is taken, or a page that is larger than all of the room would never be.
if ARGV[deliveries] and waiting(egress) >= waiting_max then return {'WEBHOOKSFULL'} end
local shares, names, taken = {}, {}, {}
for i = deliveries, #ARGV, deliveries_row do
  -- bind: deliveries at i
  if not shares[webhook] then
    shares[webhook] = held(egress, webhook)
    names[#names + 1] = webhook
  end
  local share = shares[webhook]
  if share.n < share_tasks and share.bytes < share_bytes then
    share.n, share.bytes = share.n + 1, share.bytes + #payload
    taken[#taken + 1] = i
  elseif wait and #taken == 0 then
    return {'WEBHOOKSFULL'}
  elseif wait then
    taken[#taken + 1] = i
  else
    share.dropped = share.dropped + 1
  end
end
local last, now_ms = tonumber(redis.call('GET', last_id)), clock_ms()

redis.call('HSET', meta, 'events', generation .. ' ' .. after)
for _, i in ipairs(taken) do
  -- bind: deliveries at i
  enqueue_delivery(egress, id, payload, now_ms)
end
local reply = {'OK'}
for _, name in ipairs(names) do
  local share = shares[name]
  if share.dropped > 0 then
    drop(egress, name, share.dropped)
    reply[#reply + 1], reply[#reply + 2] = name, share.dropped
  end
end
-- What was only held for this may go now.
if trim_log(last, redis.call('ZCARD', msgs), tonumber(keep), tonumber(backlog_max)) then enqueue_trim(trim_id, epoch, now_ms) end
return reply
