-- include: task_enqueue
-- needs: core
-- enqueue_run begins a run of an announcement, enqueue_part does the pages of one in a partition. Go knows their payloads.
local function enqueue_run(id, payload, priority, due_ms, now_ms)
  task_enqueue(core, id, 'announce', payload, priority, due_ms, now_ms, '')
end

local function enqueue_part(id, payload, priority, now_ms)
  task_enqueue(core, id, 'announce_page', payload, priority, 0, now_ms, '')
end
