-- Shared by the scripts that take and free the slots of limits. slots is a ZSET whose scores are all 0, so its order is
-- that of its members:
--   "<key>\n0<id>"         a task that has a slot of the key: it runs, its slot was passed on to it
--                          while it is ready, or it keeps its slot until it ends
--   "<key>\n1<since><id>"  a task that is parked since then, 16 digits: its score in parked
-- That is a time in us, later than that of every other task of the key. No key has parked tasks and no slot taken: whatever
-- frees a slot passes it on in the same step.

-- limit_of returns the limit of a task: how many may run, whether it keeps its slot until it ends, what it does if none
-- is free, and the key. Without a limit, nil. It looks at the head alone: a payload may hold anything.
local function limit_of(spec)
  local head = string.sub(spec, 1, string.find(spec, '\n', 1, true) or -1)
  local _, last = string.find(head, '\rlimit ', 1, true)
  if not last then return nil end
  local max, keep, busy, key = string.match(head, '^(%d+) ([01]) (%S+) ([^\r\n]+)', last + 1)
  return key and {max = tonumber(max), keep = keep == '1', busy = busy, key = key}
end

-- limit_taken returns how many slots of a key are taken.
local function limit_taken(slots, key)
  return redis.call('ZLEXCOUNT', slots, '[' .. key .. '\n0', '(' .. key .. '\n1')
end

local function limit_take(slots, key, id) redis.call('ZADD', slots, 0, key .. '\n0' .. id) end

-- limit_waits tells whether tasks of a key are parked.
local function limit_waits(slots, key)
  return redis.call('ZLEXCOUNT', slots, '[' .. key .. '\n1', '(' .. key .. '\n2') > 0
end

-- limit_view returns what a claim has to know of a key: how many slots are taken, whether tasks are parked, and, unless it
-- is too many, the ids that have slots. Usually that is one command.
local function limit_view(slots, key)
  local members = redis.call('ZRANGEBYLEX', slots, '[' .. key .. '\n0', '(' .. key .. '\n2', 'LIMIT', 0, 17)
  if #members == 17 then return {taken = limit_taken(slots, key), waits = limit_waits(slots, key)} end
  local view = {taken = 0, waits = false, has = {}}
  for _, member in ipairs(members) do
    if string.byte(member, #key + 2) == 48 then
      view.taken = view.taken + 1
      view.has[string.sub(member, #key + 3)] = true
    else
      view.waits = true
    end
  end
  return view
end

-- limit_held returns the length of the lease in ms, as text, and the token of a slot that Hold takes. Of a task, nil.
local function limit_held(spec)
  return string.match(spec, '^%S+ %S+ %S+ %S+ %S+ @hold [^\n]*\n(%d+) (%S+)$')
end

-- limit_pass passes the free slots of a key on. Returns {id, specification, ...} of the tasks that have them now, longest
-- parked first: they are in no list yet. One that Hold takes is leased. They are several if a task in front of them wanted fewer to run. A parked id
-- without a specification was removed by hand.
local function limit_pass(tasks, slots, parked, leased, key)
  local after, taken = {}, nil
  for _ = 1, 100 do
    local first = redis.call('ZRANGEBYLEX', slots, '[' .. key .. '\n1', '(' .. key .. '\n2', 'LIMIT', 0, 1)[1]
    if not first then break end
    taken = taken or limit_taken(slots, key)
    local next_id = string.sub(first, #key + 19)
    local spec = redis.call('HGET', tasks, next_id)
    local own = spec and limit_of(spec)
    if own and taken >= own.max then break end
    redis.call('ZREM', slots, first)
    redis.call('ZREM', parked, next_id)
    if own then
      limit_take(slots, key, next_id)
      taken = taken + 1
      local lease_ms, token = limit_held(spec)
      if token then
        local t = redis.call('TIME')
        local until_ms = t[1] * 1000 + math.ceil(t[2] / 1000) + lease_ms
        redis.call('ZADD', leased, string.format('%.0f', until_ms), next_id .. ' ' .. token)
      else
        after[#after + 1], after[#after + 2] = next_id, spec
      end
    end
  end
  return after
end

-- limit_free frees the slot of a task, if it has one, and passes it on. Returns what limit_pass does.
local function limit_free(tasks, slots, parked, leased, limit, id)
  if redis.call('ZREM', slots, limit.key .. '\n0' .. id) == 0 then return {} end
  return limit_pass(tasks, slots, parked, leased, limit.key)
end

-- limit_free_all frees slots by their members, and passes on those of the keys. Returns what limit_pass does.
local function limit_free_all(tasks, slots, parked, leased, members, keys)
  local after, seen = {}, {}
  if #members == 0 then return after end
  redis.call('ZREM', slots, unpack(members))
  if redis.call('EXISTS', parked) == 0 then return after end
  for _, key in ipairs(keys) do
    if not seen[key] then
      seen[key] = true
      for _, one in ipairs(limit_pass(tasks, slots, parked, leased, key)) do after[#after + 1] = one end
    end
  end
  return after
end

-- limit_park parks a task behind the others of its key.
local function limit_park(slots, parked, key, id, now_us)
  local last = redis.call('ZREVRANGEBYLEX', slots, '(' .. key .. '\n2', '[' .. key .. '\n1', 'LIMIT', 0, 1)[1]
  local since = now_us
  if last then since = math.max(since, tonumber(string.sub(last, #key + 3, #key + 18)) + 1) end
  since = string.format('%016.0f', since)
  redis.call('ZADD', slots, 0, key .. '\n1' .. since .. id)
  redis.call('ZADD', parked, since, id)
end

-- limit_unpark takes a task out of those that are parked. Returns whether it was.
local function limit_unpark(slots, parked, limit, id)
  local since = redis.call('ZSCORE', parked, id)
  if not since then return false end
  redis.call('ZREM', slots, limit.key .. '\n1' .. string.format('%016.0f', tonumber(since)) .. id)
  redis.call('ZREM', parked, id)
  return true
end
