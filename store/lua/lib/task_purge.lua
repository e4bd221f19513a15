-- include: base
-- include: task_enqueue
-- needs: core group
-- enqueue_purge deletes what a user sent in the last hours to a group, up to an id.
local function enqueue_purge(id, epoch, user, by, via, hours, up_to, now_ms)
  task_enqueue(core, id, 'purge', '{"group":"' .. group .. '","epoch":"' .. epoch .. '","user":"' .. user .. '","by":"' .. by ..
    '","via":"' .. via .. '","since_ms":' .. int(now_ms - hours * 3600000) .. ',"id":' .. up_to .. '}', 'normal', 0, now_ms, '')
end
