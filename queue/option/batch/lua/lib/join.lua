-- Of enqueue.lua: batches.
-- needs: queue batch batches tasks delayed critical high normal low counts now_ms from_ms
local function ms(n) return string.format('%.0f', n) end

-- rush has a full batch run now, if its carrier waits for its time.
local function rush(carrier, priority)
  if redis.call('ZREM', delayed, carrier) == 0 then return end
  local lists = {critical = critical, high = high, normal = normal, low = low}
  redis.call('RPUSH', lists[priority], carrier)
  redis.call('PUBLISH', tasks, 'ready')
end

-- join puts a task into the batch of its kind, priority and key, or begins one.
local function join(id, kind, payload, priority, attempts_max, options)
  local lines, own = string.match(options, '^(.*)\rcarrier (%S+)$')
  local max, bytes_max, quiet, wait, key = string.match(lines, '\rbatch (%d+) (%d+) (%d+) (%d+) ([^\r]*)')
  max, bytes_max, quiet, wait = tonumber(max), tonumber(bytes_max), tonumber(quiet), tonumber(wait)
  if redis.call('HEXISTS', tasks, id) == 1 or redis.call('HEXISTS', batches, '#' .. id) == 1 then return 0 end
  local spec = priority .. ' ' .. attempts_max .. ' 0 ' .. ms(now_ms) .. ' 0 ' .. kind .. ' ' .. lines .. '\n' .. payload

  local open = '= ' .. priority .. ' ' .. kind .. ' ' .. key
  local carrier = redis.call('HGET', batches, open)
  local count, bytes, since_ms = string.match(carrier and redis.call('HGET', batches, carrier) or '', '^(%d+) (%d+) (%d+)$')
  if count and tonumber(bytes) + #spec > bytes_max then
    rush(carrier, priority)
    count = nil
  end
  local new = not count
  if new then carrier, count, bytes, since_ms = own, 0, 0, from_ms end
  count, bytes, since_ms = tonumber(count) + 1, tonumber(bytes) + #spec, tonumber(since_ms)

  redis.call('HSET', batches, '#' .. id, spec, carrier .. ' ' .. count, id, carrier, ms(count) .. ' ' .. ms(bytes) .. ' ' .. ms(since_ms))
  redis.call('HINCRBY', counts, 'batched', 1)
  local full = count >= max or bytes >= bytes_max
  if full then redis.call('HDEL', batches, open) elseif new then redis.call('HSET', batches, open, carrier) end
  local due_ms = math.min(quiet > 0 and from_ms + quiet or math.huge, wait > 0 and since_ms + wait or math.huge)
  if new then
    task_enqueue_all(queue, {carrier, kind, '', priority, full and 0 or ms(due_ms), 0, '', attempts_max, 0, lines}, now_ms, from_ms)
  elseif full then
    rush(carrier, priority)
  else
    redis.call('ZADD', delayed, 'XX', ms(due_ms), carrier)
  end
  return 1
end

-- join_all enqueues the tasks of ARGV, those with a batch in batches.
local function join_all()
  local joined, position, plain_only = {}, 0, true
  for at = batch, #ARGV, batch_row do
    -- bind: batch at at
    position = position + 1
    if string.find(options, '\rbatch ', 1, true) then joined[position], plain_only = at, false end
  end
  if plain_only then return task_enqueue_all(queue, ARGV, now_ms, from_ms, true) end

  local plain, positions, reply = {}, {}, {}
  for p = 1, position do
    if not joined[p] then
      positions[#positions + 1] = p
      for i = (p - 1) * batch_row + 1, p * batch_row do plain[#plain + 1] = ARGV[i] end
    end
  end
  if #plain > 0 then
    for i, answer in ipairs(task_enqueue_all(queue, plain, now_ms, from_ms, true)) do reply[positions[i]] = answer end
  end
  for p = 1, position do
    local at = joined[p]
    if at then
      -- bind: batch at at
      reply[p] = join(id, kind, payload, priority, attempts_max, options)
    end
  end
  return reply
end
