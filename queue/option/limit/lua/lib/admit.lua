-- Of step.lua: claimed tasks that may have to wait for their limits or rates.
-- include: common
-- include: due
-- needs: overdue_max now_ms from_ms now_us next_ms

-- delay puts a claimed task among the delayed ones.
local soonest_ms = math.huge
local function delay(id, due_ms)
  redis.call('ZADD', delayed, string.format('%.0f', due_ms), id)
  soonest_ms = math.min(soonest_ms, due_ms)
  if overdue_max > 0 then next_ms = math.min(next_ms, due_ms) end
end

-- slot returns whether a task has a slot of its limit now. Without one, it is parked or delayed. views are those of the keys
-- that this claim has looked at: false if nobody has a slot, a value as it is stored, or what limit_read makes of it.
-- store_views stores those that are touched, some of which may be named twice.
local views, touched = {}, {}
local function store_views()
  local anew = {}
  for _, key in ipairs(touched) do
    local view = views[key]
    if view then
      anew[#anew + 1], anew[#anew + 2] = key, type(view) == 'string' and view or limit_value(view)
      views[key] = nil
    end
  end
  if #anew > 0 then redis.call('HSET', slots, unpack(anew)) end
  touched = {}
end

local function slot(id, limit)
  local key = limit.key
  if views[key] == nil then views[key] = redis.call('HGET', slots, key) end
  local view = views[key]
  if not view then
    views[key] = id
    touched[#touched + 1] = key
    return true
  end
  if type(view) == 'string' then
    view = limit_read(view)
    view.has = {}
    for _, one in ipairs(view.ids) do view.has[one] = true end
    views[key] = view
  end
  if view.has[id] then return true end
  touched[#touched + 1] = key
  if limit_open(view, limit) then
    view.ids[#view.ids + 1], view.has[id] = id, true
    return true
  end
  local pause_ms = tonumber(limit.busy)
  if pause_ms then
    delay(id, from_ms + pause_ms)
  else
    limit_park(lines, parked, key, id, now_us)
    view.waits = true
  end
  return false
end

-- admit returns whether a task may be claimed, as far as its limit and its rate go. Otherwise it waits in another way now.
local function admit(id, limit, rate, seen)
  if limit and not slot(id, limit) then return false end
  local wait_us = rate and rate_wait(seen, rate, id, now_us) or 0
  if wait_us <= 0 then return true end
  if limit and not limit.keep then
    store_views()
    task_slot_free(id, limit)
    views = {}
  end
  delay(id, math.ceil((now_us + wait_us) / 1000))
  return false
end

-- admit_limited drops the specifications of the tasks that may not be claimed, of the n tasks at which, which have limits and
-- no rates. names are their keys, taken each key and the id of its task, and holders the values of the mark and of the keys.
-- new is how many fields there are more if taken is stored already: then no other task had a slot.
local function admit_limited(ids, specs, n, which, names, taken, holders, new)
  local busy, last = {}, 0
  for j = 1, n do
    if holders[j + 1] then
      busy[#busy + 1] = j
    else
      last = last + 2
      taken[last - 1], taken[last] = names[j], ids[which[j]]
    end
  end
  if not holders[1] then
    last = last + 2
    taken[last - 1], taken[last] = limit_mark, limit_mark_value
  end
  if last > 0 and (new or redis.call('HSET', slots, unpack(taken, 1, last))) < last / 2 then
    -- Some keys came twice: the first task has the slot.
    for j = 1, n do
      local key = names[j]
      if not holders[j + 1] and views[key] then busy[#busy + 1] = j elseif not holders[j + 1] then views[key] = ids[which[j]] end
    end
  end
  for _, j in ipairs(busy) do
    local key, at = names[j], which[j]
    views[key] = views[key] or holders[j + 1]
    if not slot(ids[at], limit_of(task_options(specs[at]))) then specs[at] = false end
  end
  store_views()
end

-- admit_all does that for all tasks. Where each of them has no more than a limit, holders and new are as above; else nil.
local function admit_all(ids, specs, holders, new)
  local which, names, taken, n, limits, rated, wants = {}, {}, {}, 0, {}, {}, {}
  for i = 1, #ids do
    local options = specs[i] and task_options(specs[i])
    if options then
      local limit, rate = limit_of(options), rate_of(options)
      if rate then rated[i], wants[#wants + 1], wants[#wants + 2] = rate, rate, ids[i] end
      if limit then
        n, limits[i] = n + 1, limit
        which[n], names[n], taken[2 * n - 1], taken[2 * n] = i, limit.key, limit.key, ids[i]
      end
    end
  end
  if n == 0 and #wants == 0 then return end
  local seen = rate_begin(rates, wants)
  if n > 0 then
    holders = holders or redis.call('HMGET', slots, limit_mark, unpack(names))
    if #wants == 0 then return admit_limited(ids, specs, n, which, names, taken, holders, new) end
    for j = 1, n do views[names[j]] = holders[j + 1] end
  end
  for i = 1, #ids do
    if (limits[i] or rated[i]) and not admit(ids[i], limits[i], rated[i], seen) then specs[i] = false end
  end
  store_views()
  rate_end(rates, seen, now_us)
end
