-- The deliveries that wait for webhooks, as the egress queue counts them. egress is the index in KEYS of that queue's
-- keys. webhook_waiting returns how many tasks there are.
local function webhook_waiting(queue)
  -- bind: enqueue at queue
  return redis.call('HLEN', tasks)
end

-- webhook_held returns how many deliveries of a webhook wait, and their bytes.
local function webhook_held(queue, name)
  -- bind: enqueue at queue
  local n, bytes = unpack(redis.call('HMGET', counts, 'tasks~' .. name, 'bytes~' .. name))
  return {n = tonumber(n or 0), bytes = tonumber(bytes or 0)}
end

-- webhook_has returns whether a delivery waits, runs or is a dead letter.
local function webhook_has(queue, id)
  -- bind: enqueue at queue
  return redis.call('HEXISTS', tasks, id) == 1
end

-- webhook_lost counts events that a webhook will never get.
local function webhook_lost(queue, name, n)
  -- bind: enqueue at queue
  redis.call('HINCRBY', counts, 'dropped~' .. name, n)
end
