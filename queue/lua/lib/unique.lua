-- Shared by the scripts that take unique keys. unique is a HASH, key -> "<id>" of the task that holds it, or "<id>
-- <end_ms>" if the key is taken until a time, whatever happens to the task: nothing that frees the key of a task frees
-- that one, because the value is not the id. expiring is a ZSET, key -> end_ms of those that are taken until a time.

-- unique_holds finds among the options of a task whether it keeps its key until it ends, not only while it waits.
local function unique_holds(options) return string.find(options, '\runique end', 1, true) ~= nil end

-- unique_span finds among the options of a task for how many ms it takes its key; nil if that ends with the task.
local function unique_span(options)
  local span_ms = string.match(options, '\runique (%d+)')
  return span_ms and tonumber(span_ms)
end

-- unique_take has a task take a key that is free, or was taken until a time that has come. Returns true, or false and
-- the id of the task that took the key.
local function unique_take(unique, expiring, key, id, now_ms)
  if redis.call('HSETNX', unique, key, id) == 1 then return true end
  local holder, end_ms = string.match(redis.call('HGET', unique, key), '^(%S+) ?(%d*)')
  if not end_ms or end_ms == '' or tonumber(end_ms) > now_ms then return false, holder end
  redis.call('HSET', unique, key, id)
  redis.call('ZREM', expiring, key)
  return true
end

-- unique_keep has a key that a task just took be taken until a time.
local function unique_keep(unique, expiring, key, id, end_ms)
  end_ms = string.format('%.0f', end_ms)
  redis.call('HSET', unique, key, id .. ' ' .. end_ms)
  redis.call('ZADD', expiring, end_ms, key)
end

-- unique_trim removes keys that were taken until a time that has come, at most 16.
local function unique_trim(unique, expiring, now_ms)
  local over = redis.call('ZRANGEBYSCORE', expiring, '-inf', string.format('%.0f', now_ms), 'LIMIT', 0, 16)
  if #over == 0 then return end
  local free = {}
  for i, holder in ipairs(redis.call('HMGET', unique, unpack(over))) do
    local end_ms = holder and string.match(holder, ' (%d+)$')
    if end_ms and tonumber(end_ms) <= now_ms then free[#free + 1] = over[i] end
  end
  redis.call('ZREM', expiring, unpack(over))
  if #free > 0 then redis.call('HDEL', unique, unpack(free)) end
end
