-- Makes the deliveries of a group's entries to one webhook that is behind, and moves its position: both or neither.
-- Once it reaches the position of the others, it is no longer behind.
--
-- KEYS  last_id meta seen msgs reactions reacted wants core:enqueue egress:enqueue
-- ARGV  group epoch deleted generation webhook before after:int missed:int waiting_max:int share_tasks:int share_bytes:int trim_id
--       deliveries(id payload)...
--   deleted      see webhook/events.lua
--   before       id up to which it had its events
--   after        id up to which it has them now; above the position of the others if nothing more is due to it
--   missed       entries between that were trimmed
--   waiting_max  to trim_id, see webhook/events.lua; if less than half of a share is in use, the step is taken as a whole,
--                so that groups where the webhook keeps up have room too
--   deliveries   id and payload of each task
-- Returns {OK, 1 if it is still behind}
-- Refuses NOTFOUND (the group is gone), CONFLICT (another call did it, or it is not behind), WEBHOOKSFULL
-- include: trim
-- include: task_webhook
-- include: task_trim
-- include: webhook_behind
-- include: webhook_share
local has_epoch, keep, backlog_max, has_deleted = unpack(redis.call('HMGET', meta, 'epoch', 'keep', 'backlog_max', 'deleted'))
if has_epoch ~= epoch then return {'NOTFOUND'} end
local current, position, lagging = webhook_position()
local behind = webhook_behind(lagging)
if current ~= generation or behind.at[webhook] ~= tonumber(before) or (has_deleted or '') ~= deleted then return {'CONFLICT'} end
if ARGV[deliveries] then
  local share = webhook_held(egress, webhook)
  if 2 * share.n >= share_tasks or 2 * share.bytes >= share_bytes or webhook_waiting(egress) >= waiting_max then
    return {'WEBHOOKSFULL'}
  end
end
local last, now_ms = tonumber(redis.call('GET', last_id)), clock_ms()

local goes_on = after < position
behind.at[webhook] = goes_on and after or nil
webhook_write_behind(generation, behind)
if missed > 0 then webhook_lost(egress, webhook, missed) end
for i = deliveries, #ARGV, deliveries_row do
  -- bind: deliveries at i
  enqueue_delivery(egress, id, payload, now_ms)
end
-- Entries that were only held for this webhook may go now.
if trim_log(last, redis.call('ZCARD', msgs), tonumber(keep), tonumber(backlog_max)) then enqueue_trim(trim_id, epoch, now_ms) end
return {'OK', goes_on and 1 or 0}
