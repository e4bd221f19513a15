-- include: task_enqueue
-- needs: core group
-- enqueue_archive archives the new entries of a group, or drops its log from the archive where this life of it has ended. While
-- one waits, no second one is put in. Tasks of this kind are counted under an account of their own.
local function enqueue_archive(id, epoch, due_ms, now_ms)
  task_enqueue(core, id .. '~archive', 'archive', '{"group":"' .. group .. '","epoch":"' .. epoch .. '"}', 'low', due_ms, now_ms,
    'archive:' .. group .. ':' .. epoch)
end
