-- include: base
-- include: task_enqueue
-- needs: core group
-- enqueue_reported tells webhooks of a report; report is what they get, as JSON.
local function enqueue_reported(id, report, now_ms)
  task_enqueue(core, id, 'reported', '{"group":"' .. group .. '","report":' .. report .. '}', 'normal', 0, now_ms, '')
end

-- enqueue_reports_end removes the reports of a group that have been open for too long. While one waits, no second one is put in:
-- that one is due earlier.
local function enqueue_reports_end(id, due_ms, now_ms)
  task_enqueue(core, id, 'reports_end', '{"group":"' .. group .. '"}', 'low', due_ms, now_ms, 'reports_end:' .. group)
end
