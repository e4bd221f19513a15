-- include: base
-- include: task_enqueue
-- enqueue_delivery enqueues a delivery to a webhook. egress is the index in KEYS of the keys of the egress queue.
-- Returns 1, or 0 if it exists already.
local function enqueue_delivery(egress, id, payload, now_ms)
  return task_enqueue(egress, id, 'hook', payload, 'normal', 0, now_ms, '')
end

-- enqueue_webhooks copies to the partitions what scripts need of the list of webhooks. core is the index in KEYS of the
-- keys of that queue.
local function enqueue_webhooks(core, id, version, now_ms)
  task_enqueue(core, id, 'webhooks', '{"version":' .. int(version) .. '}', 'high', 0, now_ms, 'webhooks')
end
