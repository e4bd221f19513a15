-- include: task_enqueue
-- needs: core group
-- enqueue_quorum goes on with the quorum of a message; what tells its tasks apart.
local function enqueue_quorum(id, epoch, entry_id, due_ms, now_ms)
  task_enqueue(core, id, 'quorum', '{"group":"' .. group .. '","epoch":"' .. epoch .. '","id":' .. entry_id .. '}', 'normal', due_ms, now_ms, '')
end
