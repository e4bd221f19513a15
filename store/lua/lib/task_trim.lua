-- include: task_enqueue
-- needs: core group
-- enqueue_trim continues a trim that one step did not finish.
local function enqueue_trim(id, epoch, now_ms)
  task_enqueue(core, id, 'trim', '{"group":"' .. group .. '","epoch":"' .. epoch .. '"}', 'low', 0, now_ms, 'trim:' .. group)
end
