-- include: task_enqueue
-- needs: core erasure_id
-- enqueue_erase carries out an erasure, from where it stands.
local function enqueue_erase(id, now_ms)
  task_enqueue(core, id, 'erase', '{"erasure":"' .. erasure_id .. '"}', 'low', 0, now_ms, '')
end

-- enqueue_erasure_end forgets an erasure that is done.
local function enqueue_erasure_end(due_ms, now_ms)
  task_enqueue(core, erasure_id .. '.end', 'erasure_end', '{"erasure":"' .. erasure_id .. '"}', 'low', due_ms, now_ms, '')
end
