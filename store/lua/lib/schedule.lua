-- include: base
-- include: task_schedule
-- include: task_cancel
-- needs: schedule
-- A schedule is a HASH: plan (JSON), content (hash of the request that made it), state, version, created_ms, next_ms (of the
-- occurrence that comes next), fired, sent, missed, last_id, last_ms, last_error, ran (the newest requests to send now).
-- While it is pending there is one task for it, `<id>.<version>`. Every change raises the version, takes the task away and
-- puts the next in: a task that runs already finds another version and does nothing.

-- schedule_record reads what (*Store).asSchedule takes.
local function schedule_record()
  return redis.call('HMGET', schedule, 'plan', 'state', 'version', 'created_ms', 'next_ms', 'fired', 'sent', 'missed', 'last_id',
    'last_ms', 'last_error')
end

-- schedule_over makes the task that forgets a schedule which has ended: for a day it can be looked at.
local function schedule_over(now_ms) enqueue_end(now_ms + 86400000, now_ms) end

local function schedule_next_version(version) return int(tonumber(version) + 1) end

local function schedule_waits(state) return state == 'pending' or state == 'paused' end
