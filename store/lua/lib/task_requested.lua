-- include: task_enqueue
-- needs: core group
-- enqueue_requested tells webhooks that a user asks to join. note is JSON.
local function enqueue_requested(id, epoch, user, note, at_ms, now_ms)
  task_enqueue(core, id, 'requested', '{"group":"' .. group .. '","epoch":"' .. epoch .. '","user":"' .. user .. '","note":' .. note ..
    ',"at_ms":' .. at_ms .. '}', 'normal', 0, now_ms, '')
end
