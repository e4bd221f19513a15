-- include: task_enqueue
-- needs: core group
-- enqueue_erase_held erases in a group what erasures could not while it was under a legal hold.
local function enqueue_erase_held(id, epoch, now_ms)
  task_enqueue(core, id, 'erase_held', '{"group":"' .. group .. '","epoch":"' .. epoch .. '"}', 'low', 0, now_ms, '')
end
