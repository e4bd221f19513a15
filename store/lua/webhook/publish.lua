-- Makes deliveries of events that are in no log, so that they cannot wait there: those over the share of a webhook are
-- lost, and counted. Existing deliveries stay as they are.
--
-- KEYS  egress:enqueue
-- ARGV  waiting_max:int share_tasks:int share_bytes:int deliveries(id webhook payload)...
--   waiting_max  to share_bytes, see webhook/events.lua
--   deliveries   id and payload of each task; without an id: the webhook loses as many events as payload says
-- Returns {OK, then each webhook with how many it lost}
-- include: task_webhook
-- include: webhook_share
local shares, names, now_ms, waiting = {}, {}, clock_ms(), webhook_waiting(egress)
for i = deliveries, #ARGV, deliveries_row do
  -- bind: deliveries at i
  local share = shares[webhook]
  if not share then
    share = webhook_held(egress, webhook)
    share.lost, shares[webhook], names[#names + 1] = 0, share, webhook
  end
  if id == '' then
    share.lost = share.lost + tonumber(payload)
  elseif share.n < share_tasks and share.bytes < share_bytes and waiting < waiting_max then
    if enqueue_delivery(egress, id, payload, now_ms) == 1 then
      share.n, share.bytes, waiting = share.n + 1, share.bytes + #payload, waiting + 1
    end
  elseif not webhook_has(egress, id) then
    share.lost = share.lost + 1
  end
end
local reply = {'OK'}
for _, name in ipairs(names) do
  local lost = shares[name].lost
  if lost > 0 then
    webhook_lost(egress, name, lost)
    reply[#reply + 1], reply[#reply + 2] = name, lost
  end
end
return reply
