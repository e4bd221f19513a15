-- include: task_enqueue
-- needs: core group
-- enqueue_archive archives the new entries of a group, or drops its log from the archive if this life of it has ended.
-- At most one waits. Tasks of this kind are counted under their own account.
local function enqueue_archive(id, epoch, due_ms, now_ms)
  task_enqueue(core, id .. '~archive', 'archive', '{"group":"' .. group .. '","epoch":"' .. epoch .. '"}', 'low', due_ms, now_ms,
    'archive:' .. group .. ':' .. epoch)
end
