-- include: base
-- include: task_enqueue
-- needs: core group
-- enqueue_cleanup removes what a deleted group left behind of each user.
local function enqueue_cleanup(id, epoch, now_ms)
  task_enqueue(core, id, 'cleanup', '{"group":"' .. group .. '","epoch":"' .. epoch .. '"}', 'normal', 0, now_ms, '')
end

-- enqueue_ended makes the events of a deleted group, with the JSON of entries that there were none for yet. behind has, for
-- each webhook that was behind, how many entries it misses, as JSON.
local function enqueue_ended(id, epoch, caller, now_ms, entries, behind)
  task_enqueue(core, id, 'ended', '{"group":"' .. group .. '","epoch":"' .. epoch .. '","by":"' .. caller .. '","at_ms":' ..
    int(now_ms) .. ',"untold":[' .. table.concat(entries, ',') .. '],"behind":{' ..
    table.concat(behind, ',') .. '}}', 'normal', 0, now_ms, '')
end
