-- include: task_enqueue
-- needs: core
-- enqueue_notify_inbox decides whether to notify a user of the inbox. At most one task per user and priority waits.
local function enqueue_notify_inbox(id, user, priority, due_ms, now_ms)
  task_enqueue(core, id, 'notify_inbox', '{"user":"' .. user .. '"}', priority, due_ms, now_ms,
    'notify_inbox:' .. priority .. ':' .. user)
end
