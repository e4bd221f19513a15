-- include: base
-- include: task_schedule
-- include: task_cancel
-- needs: schedule
-- A schedule is a HASH: plan (JSON), content (hash of the request that created it), state, version, created_ms, next_ms
-- (of the next occurrence), fired, sent, missed, last_id, last_ms, last_error, ran (the newest requests to send now).
-- While it is pending, it has one task, `<id>.<version>`. Every change raises the version and replaces the task: a task
-- that is already running finds another version and does nothing.

-- schedule_record returns the fields that (*Store).asSchedule parses.
local function schedule_record()
  return redis.call('HMGET', schedule, 'plan', 'state', 'version', 'created_ms', 'next_ms', 'fired', 'sent', 'missed', 'last_id',
    'last_ms', 'last_error')
end

-- schedule_over enqueues the task that removes an ended schedule a day later; until then it can be read.
local function schedule_over(now_ms) enqueue_end(now_ms + 86400000, now_ms) end

local function schedule_next_version(version) return int(tonumber(version) + 1) end

local function schedule_waits(state) return state == 'pending' or state == 'paused' end
