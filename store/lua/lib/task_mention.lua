-- include: task_enqueue
-- needs: core group
-- enqueue_mention notifies the users whom message entry_id mentions.
local function enqueue_mention(id, epoch, entry_id, from, users, now_ms)
  task_enqueue(core, id, 'mention', '{"group":"' .. group .. '","epoch":"' .. epoch .. '","id":' .. entry_id .. ',"from":"' ..
    from .. '","users":["' .. table.concat(users, '","') .. '"]}', 'high', 0, now_ms, '')
end
