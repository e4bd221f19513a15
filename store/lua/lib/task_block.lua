-- include: task_enqueue
-- needs: core
-- enqueue_block has the direct group of a user and another know whether the user blocks the other.
local function enqueue_block(id, user, other, now_ms)
  task_enqueue(core, id, 'block', '{"user":"' .. user .. '","other":"' .. other .. '"}', 'high', 0, now_ms, '')
end
