-- What waits for a webhook, as the egress queue counts it. egress is the position of the keys of that queue.
-- webhook_waiting tells how many tasks there are.
local function webhook_waiting(queue)
  -- bind: enqueue at queue
  return redis.call('HLEN', tasks)
end

-- webhook_held tells how many deliveries of a webhook wait, and what they take.
local function webhook_held(queue, name)
  -- bind: enqueue at queue
  local n, bytes = unpack(redis.call('HMGET', counts, 'tasks~' .. name, 'bytes~' .. name))
  return {n = tonumber(n or 0), bytes = tonumber(bytes or 0)}
end

-- webhook_has tells whether a delivery waits, runs or is a dead letter.
local function webhook_has(queue, id)
  -- bind: enqueue at queue
  return redis.call('HEXISTS', tasks, id) == 1
end

-- webhook_lost counts events that a webhook never gets.
local function webhook_lost(queue, name, n)
  -- bind: enqueue at queue
  redis.call('HINCRBY', counts, 'dropped~' .. name, n)
end
