-- include: int.lua
-- include: task_enqueue.lua
-- include: task_cancel.lua
-- A schedule is a HASH: plan (JSON), content (hash of the request that made it), state, version, created_ms, next_ms (of the
-- occurrence that comes next), fired, sent, missed, last_id, last_ms, last_error, ran (the newest requests to send now).
-- While it is pending there is one task for it, `<id>.<version>`. Every change raises the version, takes the task away and
-- puts the next in: a task that runs already finds another version and does nothing.
local schedule_kept_ms = 86400000 -- what has ended can be looked at for a day

-- schedule_record reads what (*Store).asSchedule takes.
local function schedule_record(key)
  return redis.call('HMGET', key, 'plan', 'state', 'version', 'created_ms', 'next_ms', 'fired', 'sent', 'missed', 'last_id',
    'last_ms', 'last_error')
end

-- schedule_at makes the task of the occurrence that comes next. wk: place of the keys that Keys.Work() of the core queue lists.
local function schedule_at(wk, id, version, due_ms, now_ms)
  task_enqueue(wk, id .. '.' .. version, 'schedule', '{"schedule":"' .. id .. '","version":' .. version .. '}', 'high',
    due_ms, now_ms, '')
end

-- schedule_over makes the task that forgets a schedule which has ended.
local function schedule_over(wk, id, now_ms)
  task_enqueue(wk, id .. '.end', 'schedule_end', '{"schedule":"' .. id .. '"}', 'low', now_ms + schedule_kept_ms, now_ms, '')
end

local function schedule_next_version(version) return int(tonumber(version) + 1) end

local function schedule_waits(state) return state == 'pending' or state == 'paused' end
