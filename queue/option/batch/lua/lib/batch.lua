-- Shared by the scripts that move carriers. A carrier is a task that stands for a batch: the tasks that were enqueued
-- with the same kind, priority and batch key. They are in no other state than "in the batch", and go where it goes.
--
-- batches is a HASH:
--   "= <priority> <kind> <key>" -> the carrier of the batch that still takes tasks
--   "<carrier>"                 -> "<tasks> <bytes> <since_ms>"
--   "<carrier> <n>"             -> id of its nth task
--   "#<id>"                     -> specification of a task, as in tasks
-- The id of a carrier is "p<partition>-batch-...", so nobody has to look into a specification to tell. A task that was
-- given such an id has no record here, which changes nothing for it.
-- include: option
local function task_carries(id) return string.find(id, '^p%d+%-batch%-') ~= nil end

-- task_batch_seal closes the batch of a carrier: the next task begins another one.
local function task_batch_seal(batches, carrier, spec)
  local priority, kind = string.match(spec, '^(%a+) %S+ %S+ %S+ %S+ (%S+) ')
  local key = string.match(task_options(spec) or '', '\rbatch %S+ %S+ %S+ %S+ ([^\r]*)')
  if not key then return end
  local open = '= ' .. priority .. ' ' .. kind .. ' ' .. key
  if redis.call('HGET', batches, open) == carrier then redis.call('HDEL', batches, open) end
end

-- task_batch_size returns how many tasks a carrier stands for, and their bytes; 0 and 0 for any other task.
local function task_batch_size(batches, carrier)
  if not task_carries(carrier) then return 0, 0 end
  local count, bytes = string.match(redis.call('HGET', batches, carrier) or '', '^(%d+) (%d+) ')
  return tonumber(count or 0), tonumber(bytes or 0)
end

-- task_batch_ids returns the ids of its first count tasks, and the names of the fields that hold them.
local function task_batch_ids(batches, carrier, count)
  local fields = {}
  for n = 1, count do fields[n] = carrier .. ' ' .. n end
  return redis.call('HMGET', batches, unpack(fields)), fields
end

-- task_batch_remove removes the tasks of a carrier that ends, if it is one.
local function task_batch_remove(counts, batches, carrier, spec)
  local count = task_batch_size(batches, carrier)
  if count == 0 then return end
  task_batch_seal(batches, carrier, spec)
  local ids, gone = task_batch_ids(batches, carrier, count)
  for _, id in ipairs(ids) do
    if id then gone[#gone + 1] = '#' .. id end
  end
  gone[#gone + 1] = carrier
  redis.call('HDEL', batches, unpack(gone))
  redis.call('HINCRBY', counts, 'batched', -count)
end

-- task_batch_tasks returns {id, specification, ...} of the tasks of a carrier, in the order in which they came.
local function task_batch_tasks(batches, carrier)
  local reply, count = {}, task_batch_size(batches, carrier)
  if count == 0 then return reply end
  local ids = task_batch_ids(batches, carrier, count)
  local fields = {}
  for n = 1, count do fields[n] = '#' .. (ids[n] or '') end
  for n, spec in ipairs(redis.call('HMGET', batches, unpack(fields))) do
    if spec then reply[#reply + 1], reply[#reply + 2] = ids[n], spec end
  end
  return reply
end
