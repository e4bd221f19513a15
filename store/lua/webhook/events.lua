-- Makes the deliveries of a group's newest entries to webhooks, and records up to where that was done: both or neither,
-- so that there is one event for every entry. A webhook over its share of what may wait falls behind: from there on it
-- has its own position and task, and does not hold up the others.
--
-- KEYS  last_id meta seen msgs reactions reacted wants core:enqueue egress:enqueue
-- ARGV  group epoch deleted generation before after waiting_max:int share_tasks:int share_bytes:int behind_max:int trim_id
--       deliveries(entry id webhook payload)...
--   deleted      id of the newest deletion when the entries were read, or '': what is deleted since has to be read again
--   before       id up to which there were events
--   after        id up to which there are now
--   waiting_max  tasks that may be in a partition of the egress queue
--   share_tasks  deliveries of one webhook that may wait in this partition
--   share_bytes  the same for their bytes; the last delivery that starts below it is taken
--   behind_max   webhooks that may be behind in a group
--   trim_id      of a task that continues if there is more to trim
--   deliveries   id of the entry, id of the task, and its payload; without an id, nothing was made for this webhook, because
--                it is behind
-- Returns {OK, then the webhooks that fell behind}
-- Refuses NOTFOUND (the group is gone), CONFLICT (another call did it, or other webhooks are behind), WEBHOOKSFULL
-- include: trim
-- include: task_webhook
-- include: task_log
-- include: task_trim
-- include: webhook_behind
-- include: webhook_share
local has_epoch, keep, backlog_max, has_deleted = unpack(redis.call('HMGET', meta, 'epoch', 'keep', 'backlog_max', 'deleted'))
if has_epoch ~= epoch then return {'NOTFOUND'} end
local current, position, lagging = webhook_position()
if current ~= generation or position ~= tonumber(before) or (has_deleted or '') ~= deleted then return {'CONFLICT'} end
local behind, shares, taken, reply = webhook_behind(lagging), {}, {}, {'OK'}
for i = deliveries, #ARGV, deliveries_row do
  -- bind: deliveries at i
  if id == '' then
    if not behind.at[webhook] then return {'CONFLICT'} end
  elseif not behind.at[webhook] then
    local share = shares[webhook] or webhook_held(egress, webhook)
    shares[webhook] = share
    if share.n < share_tasks and share.bytes < share_bytes then
      share.n, share.bytes = share.n + 1, share.bytes + #payload
      taken[#taken + 1] = i
    else
      local at = tonumber(entry) - 1
      behind.names[#behind.names + 1] = webhook
      behind.since[webhook], behind.at[webhook] = int(at), at
      reply[#reply + 1] = webhook
    end
  end
end
-- One delivery more than there is room for is taken, because otherwise a page larger than all of the room would never
-- be.
if #taken > 0 and webhook_waiting(egress) >= waiting_max or #behind.names > behind_max then return {'WEBHOOKSFULL'} end
local last, now_ms = tonumber(redis.call('GET', last_id)), clock_ms()

redis.call('HSET', meta, 'events', generation .. ' ' .. after)
if #reply > 1 then webhook_write_behind(generation, behind) end
for _, i in ipairs(taken) do
  -- bind: deliveries at i
  enqueue_delivery(egress, id, payload, now_ms)
end
-- The task of a webhook that was behind before exists, unless someone or an older node removed it.
local tag = string.match(meta, '{(p%d+)}')
for _, name in ipairs(behind.names) do enqueue_behind(tag, epoch, name, behind.since[name], now_ms) end
-- Entries that were only held for this may go now.
if trim_log(last, redis.call('ZCARD', msgs), tonumber(keep), tonumber(backlog_max)) then enqueue_trim(trim_id, epoch, now_ms) end
return reply
