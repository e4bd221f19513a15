-- include: base
-- include: task_enqueue
-- needs: core group
-- enqueue_expire deletes what goes at a time, and what went before. At most one waits for a time.
local function enqueue_expire(id, epoch, due_ms, now_ms)
  task_enqueue(core, id, 'expire', '{"group":"' .. group .. '","epoch":"' .. epoch .. '"}', 'high', due_ms, now_ms,
    'expire:' .. group .. ':' .. epoch .. ':' .. int(due_ms))
end
