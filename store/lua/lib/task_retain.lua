-- include: base
-- include: task_enqueue
-- needs: core group
-- enqueue_retain removes what has become too old in a group. While one waits for this life of it and this number of days, no
-- second one is put in: that one is due as early as this one would have to be.
local function enqueue_retain(id, epoch, days, due_ms, now_ms)
  task_enqueue(core, id, 'retain', '{"group":"' .. group .. '","epoch":"' .. epoch .. '","days":' .. int(days) .. '}', 'low', due_ms,
    now_ms, 'retain:' .. group .. ':' .. epoch .. ':' .. int(days))
end
