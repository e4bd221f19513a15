-- include: base
-- include: task_enqueue
-- enqueue_delivery sends something to a webhook. egress is the position of the keys of the queue for calls to the world outside.
-- Returns 1, or 0 where it is there already.
local function enqueue_delivery(egress, id, payload, now_ms)
  return task_enqueue(egress, id, 'hook', payload, 'normal', 0, now_ms, '')
end

-- enqueue_webhooks copies what scripts need of the list of webhooks to the partitions. core is the position of the keys of that
-- queue.
local function enqueue_webhooks(core, id, version, now_ms)
  task_enqueue(core, id, 'webhooks', '{"version":' .. int(version) .. '}', 'high', 0, now_ms, 'webhooks')
end
