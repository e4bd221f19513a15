-- include: task_enqueue
-- needs: core schedule_id
-- enqueue_occurrence fires the next occurrence of a version of a schedule. Its id is occurrence_task(version).
local function occurrence_task(version) return schedule_id .. '.' .. version end

local function enqueue_occurrence(version, due_ms, now_ms)
  task_enqueue(core, occurrence_task(version), 'schedule', '{"schedule":"' .. schedule_id .. '","version":' .. version .. '}',
    'high', due_ms, now_ms, '')
end

-- enqueue_end removes an ended schedule.
local function enqueue_end(due_ms, now_ms)
  task_enqueue(core, schedule_id .. '.end', 'schedule_end', '{"schedule":"' .. schedule_id .. '"}', 'low', due_ms, now_ms, '')
end

-- enqueue_failed notifies the owner of an occurrence that sent nothing. failed is the payload without its last brace,
-- code the reason.
local function enqueue_failed(version, failed, code, now_ms)
  task_enqueue(core, occurrence_task(version) .. '.failed', 'schedule_failed', failed .. ',"code":"' .. code .. '"}', 'normal', 0,
    now_ms, '')
end
