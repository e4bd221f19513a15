-- Of step.lua: what is due, and leases that have ended.
-- include: common
-- needs: overdue_max crashes_max backoff_ms jitter dead_max dead_bytes_max now_ms from_ms next_ms

-- expired lists the members of a sorted set that are due at or before now, at most overdue_max of them.
local function expired(key)
  local head = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
  local members = {}
  if head[2] and tonumber(head[2]) <= now_ms then
    members = redis.call('ZRANGEBYSCORE', key, '-inf', string.format('%.0f', now_ms), 'LIMIT', 0, overdue_max)
    redis.call('ZREM', key, unpack(members))
    head = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
  end
  next_ms = math.min(next_ms, tonumber(head[2]) or math.huge)
  return members
end

-- The pauses of tasks that lost their workers together are spread by the golden ratio: if one of them kills workers,
-- the others get to run without it.
local function reap(members)
  local ids, again, lapsed, at = {}, {}, {}, {}
  for i, member in ipairs(members) do ids[i] = string.match(member, '^%S+') end
  local state = redis.call('HMGET', runs, unpack(ids))
  local specs = redis.call('HMGET', tasks, unpack(ids))
  for i, id in ipairs(ids) do
    local run = task_run(state[i])
    run.crashes = run.crashes + 1
    local options = specs[i] and task_options(specs[i])
    local limit = options and limit_of(options)
    local held = limit and limit_held(specs[i])
    local kind = specs[i] and string.match(specs[i], '^%S+ %S+ %S+ %S+ %S+ (%S+)') or ''
    if not held and not at[kind] then
      at[kind] = #lapsed + 1
      lapsed[#lapsed + 1], lapsed[#lapsed + 2], lapsed[#lapsed + 3] = kind, 0, 0
    end
    if not held then lapsed[at[kind] + 1] = lapsed[at[kind] + 1] + 1 end
    if limit and (held or not limit.keep) then task_slot_free(id, limit) end
    if held then
      redis.call('HDEL', tasks, id)
      redis.call('HINCRBY', counts, 'deleted', 1)
      task_account(counts, id, -1, #specs[i])
    elseif run.crashes >= crashes_max then
      local reason = string.format('lease ended %d times', run.crashes)
      if run.err ~= '' then reason = reason .. '; before: ' .. run.err end
      run.err = reason
      task_write_run(id, run, 0)
      task_bury(id, now_ms, dead_max, dead_bytes_max)
      lapsed[at[kind] + 2] = lapsed[at[kind] + 2] + 1
    elseif run.crashes == 1 then
      task_write_run(id, run, now_ms)
      again[#again + 1] = id
    else
      local share = (jitter / 1000 + i * 0.618034) % 1
      local due_ms = from_ms + math.ceil(backoff_ms * 2 ^ math.min(run.crashes - 2, 10) * share)
      task_write_run(id, run, due_ms)
      redis.call('ZADD', delayed, string.format('%.0f', due_ms), id)
      next_ms = math.min(next_ms, due_ms)
    end
  end
  task_push(again)
  redis.call('HINCRBY', counts, 'crashed', #ids)
  return #again + (#passed > 0 and task_slots_pass() or 0), lapsed
end
