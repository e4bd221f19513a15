-- include: task_enqueue
-- needs: core group
-- enqueue_pressed tells webhooks of a press; press is what they get, as JSON.
local function enqueue_pressed(id, press, now_ms)
  task_enqueue(core, id, 'pressed', '{"group":"' .. group .. '","press":' .. press .. '}', 'normal', 0, now_ms, '')
end
