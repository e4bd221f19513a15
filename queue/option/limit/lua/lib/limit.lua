-- Shared by the scripts that take and free the slots of limits.
-- slots is a HASH, key -> the ids of the tasks that have a slot of the key, blanks between them: they run, their slot was
-- passed on to them while they are ready, or they keep it until they end. The value begins with "+ " if others wait. In
-- layout 2, a blank was in front of each id.
-- lines is a ZSET whose scores are all 0, so its order is that of its members: "<key>\n<since><id>" is a task that is
-- parked since then, 16 digits: its score in parked. That is a time in us, later than that of every other task of the key.
-- No key has parked tasks and no slot taken: whatever frees a slot passes it on in the same step.

-- include: limit_mark
-- include: option

-- limit_of finds the limit among the options of a task: how many may run, whether it keeps its slot until it ends, what it
-- does if none is free, and the key. Without a limit, nil.
local function limit_of(options)
  local max, keep, busy, key = string.match(options or '', '\rlimit (%d+) ([01]) (%S+) ([^\r]+)')
  return key and {max = tonumber(max), keep = keep == '1', busy = busy, key = key}
end

-- limit_read returns what the value of a key says: the ids that have a slot, and whether others wait.
local function limit_read(value)
  local view, n = {ids = {}, waits = false}, 0
  if not value then return view end
  view.waits = string.byte(value) == 43
  for id in string.gmatch(value, '[^%s+]%S*') do
    n = n + 1
    view.ids[n] = id
  end
  return view
end

local function limit_view(slots, key) return limit_read(redis.call('HGET', slots, key)) end

-- limit_value is the inverse of limit_read: nil if there is nothing to store.
local function limit_value(view)
  if #view.ids == 0 and not view.waits then return nil end
  return (view.waits and '+ ' or '') .. table.concat(view.ids, ' ')
end

local function limit_write(slots, key, view)
  local value = limit_value(view)
  if value then redis.call('HSET', slots, key, value) else redis.call('HDEL', slots, key) end
end

-- limit_open tells whether a task that comes now gets a slot: it goes behind all that wait.
local function limit_open(view, limit)
  return #view.ids == 0 or #view.ids < limit.max and not view.waits
end

-- limit_take takes a slot. view is that of the key.
local function limit_take(slots, key, view, id)
  view.ids[#view.ids + 1] = id
  limit_write(slots, key, view)
end

-- limit_drop takes an id out of a view. Returns whether it was there.
local function limit_drop(view, id)
  for i, one in ipairs(view.ids) do
    if one == id then
      table.remove(view.ids, i)
      return true
    end
  end
  return false
end

-- limit_held returns the length of the lease in ms, as text, and the token of a slot that Hold takes. Of a task, nil.
local function limit_held(spec)
  return string.match(spec, '^%S+ %S+ %S+ %S+ %S+ @hold [^\n]*\n(%d+) (%S+)$')
end

-- limit_pass passes the free slots of a key on. view is that of the key; it is stored. Returns {id, specification, ...} of
-- the tasks that have them now, longest parked first: they are in no list yet. One that Hold takes is leased. They are
-- several if a task in front of them wanted fewer to run. A parked id without a specification was removed by hand.
local function limit_pass(tasks, slots, parked, leased, lines, key, view)
  local after = {}
  local from, to = '[' .. key .. '\n', '(' .. key .. '\11'
  for i = 1, 101 do
    local first = redis.call('ZRANGEBYLEX', lines, from, to, 'LIMIT', 0, 1)[1]
    view.waits = first and true or false
    if not first or i == 101 then break end
    local next_id = string.sub(first, #key + 18)
    local spec = redis.call('HGET', tasks, next_id)
    local own = spec and limit_of(task_options(spec))
    if own and #view.ids >= own.max then break end
    redis.call('ZREM', lines, first)
    redis.call('ZREM', parked, next_id)
    if own then
      view.ids[#view.ids + 1] = next_id
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
  limit_write(slots, key, view)
  return after
end

-- limit_free frees the slot of a task, if it has one, and passes it on. Returns what limit_pass does.
local function limit_free(tasks, slots, parked, leased, lines, limit, id)
  local view = limit_view(slots, limit.key)
  if not limit_drop(view, id) then return {} end
  if view.waits then return limit_pass(tasks, slots, parked, leased, lines, limit.key, view) end
  limit_write(slots, limit.key, view)
  return {}
end

-- limit_free_all frees the slots of tasks, of which ids and keys are lists, and passes them on. Returns what limit_pass
-- does.
local function limit_free_all(tasks, slots, parked, leased, lines, ids, keys)
  local after = {}
  if #ids == 0 then return after end
  local views, changed, empty, anew = {}, {}, {}, {}
  local values = redis.call('HMGET', slots, unpack(keys))
  for i = 1, #ids do
    local key, value = keys[i], values[i]
    if value == ids[i] then
      empty[#empty + 1] = key
    elseif value then
      local view = views[key] or limit_read(value)
      views[key] = view
      if limit_drop(view, ids[i]) and not view.changed then
        view.changed = true
        changed[#changed + 1] = key
      end
    end
  end
  for _, key in ipairs(changed) do
    local view = views[key]
    if view.waits then
      for _, one in ipairs(limit_pass(tasks, slots, parked, leased, lines, key, view)) do after[#after + 1] = one end
    elseif #view.ids == 0 then
      empty[#empty + 1] = key
    else
      anew[#anew + 1], anew[#anew + 2] = key, limit_value(view)
    end
  end
  if #empty > 0 then redis.call('HDEL', slots, unpack(empty)) end
  if #anew > 0 then redis.call('HSET', slots, unpack(anew)) end
  return after
end

-- limit_park parks a task behind the others of its key. The value of the key has to say that some wait.
local function limit_park(lines, parked, key, id, now_us)
  local last = redis.call('ZREVRANGEBYLEX', lines, '(' .. key .. '\11', '[' .. key .. '\n', 'LIMIT', 0, 1)[1]
  local since = now_us
  if last then since = math.max(since, tonumber(string.sub(last, #key + 2, #key + 17)) + 1) end
  since = string.format('%016.0f', since)
  redis.call('ZADD', lines, 0, key .. '\n' .. since .. id)
  redis.call('ZADD', parked, since, id)
end

-- limit_unpark takes a task out of those that are parked. Returns whether it was. limit_pass must follow.
local function limit_unpark(lines, parked, limit, id)
  local since = redis.call('ZSCORE', parked, id)
  if not since then return false end
  redis.call('ZREM', lines, limit.key .. '\n' .. string.format('%016.0f', tonumber(since)) .. id)
  redis.call('ZREM', parked, id)
  return true
end
