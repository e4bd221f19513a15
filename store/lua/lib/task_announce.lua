-- include: task_enqueue
-- needs: core
-- enqueue_run starts a run of an announcement, enqueue_part delivers its pages in one partition. Go builds their payloads.
local function enqueue_run(id, payload, priority, due_ms, now_ms)
  task_enqueue(core, id, 'announce', payload, priority, due_ms, now_ms, '')
end

local function enqueue_part(id, payload, priority, now_ms)
  task_enqueue(core, id, 'announce_page', payload, priority, 0, now_ms, '')
end
