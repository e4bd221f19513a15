-- include: base
-- include: task_enqueue
-- needs: core group
-- enqueue_cleanup removes what a deleted group left behind for each user.
local function enqueue_cleanup(id, epoch, now_ms)
  task_enqueue(core, id, 'cleanup', '{"group":"' .. group .. '","epoch":"' .. epoch .. '"}', 'normal', 0, now_ms, '')
end

-- enqueue_ended makes the last events of a deleted group, with the JSON of entries without events. behind is, as JSON,
-- how many entries each webhook that was behind misses.
local function enqueue_ended(id, epoch, caller, now_ms, entries, behind)
  task_enqueue(core, id, 'ended', '{"group":"' .. group .. '","epoch":"' .. epoch .. '","by":"' .. caller .. '","at_ms":' ..
    int(now_ms) .. ',"untold":[' .. table.concat(entries, ',') .. '],"behind":{' ..
    table.concat(behind, ',') .. '}}', 'normal', 0, now_ms, '')
end
