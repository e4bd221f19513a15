-- include: task_enqueue
-- needs: core group
-- enqueue_notify decides whom to notify of the new messages of a group.
local function enqueue_notify(id, epoch, due_ms, now_ms)
  task_enqueue(core, id, 'notify', '{"group":"' .. group .. '","epoch":"' .. epoch .. '"}', 'normal', due_ms, now_ms,
    'notify:' .. group .. ':' .. epoch)
end

-- enqueue_notify_thread decides which followers of a thread to notify of its new replies.
local function enqueue_notify_thread(id, epoch, root, due_ms, now_ms)
  task_enqueue(core, id, 'notify', '{"group":"' .. group .. '","epoch":"' .. epoch .. '","thread":' .. root .. '}', 'normal', due_ms, now_ms,
    'notify:' .. group .. ':' .. epoch .. ':' .. root)
end

-- enqueue_behind makes the events of a webhook that is behind, a moment later: its waiting deliveries have to go first.
-- since is the id at which it fell behind, so that there is one task for each time. It has the kind of enqueue_events:
-- an older node, which does not know of webhooks that are behind, then makes the group's events instead, and the next
-- entry enqueues this task again.
local function enqueue_behind(tag, epoch, webhook, since, now_ms)
  task_enqueue(core, tag .. '-behind:' .. group .. ':' .. epoch .. ':' .. webhook .. ':' .. since, 'events',
    '{"group":"' .. group .. '","epoch":"' .. epoch .. '","webhook":"' .. webhook .. '"}', 'normal', now_ms + 1000, now_ms, '')
end

-- enqueue_events makes the events of the new entries of a group.
local function enqueue_events(id, epoch, now_ms)
  task_enqueue(core, id, 'events', '{"group":"' .. group .. '","epoch":"' .. epoch .. '"}', 'normal', 0, now_ms,
    'events:' .. group .. ':' .. epoch)
end
