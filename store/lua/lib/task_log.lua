-- include: task_enqueue
-- needs: core group
-- enqueue_notify decides whom to notify of the new messages of a group.
local function enqueue_notify(id, epoch, due_ms, now_ms)
  task_enqueue(core, id, 'notify', '{"group":"' .. group .. '","epoch":"' .. epoch .. '"}', 'normal', due_ms, now_ms,
    'notify:' .. group .. ':' .. epoch)
end

-- enqueue_events makes the events of the new entries of a group.
local function enqueue_events(id, epoch, now_ms)
  task_enqueue(core, id, 'events', '{"group":"' .. group .. '","epoch":"' .. epoch .. '"}', 'normal', 0, now_ms,
    'events:' .. group .. ':' .. epoch)
end
