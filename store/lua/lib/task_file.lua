-- include: base
-- include: task_enqueue
-- needs: core group
-- enqueue_file_removed removes the bytes of a file whose record is gone. It is enqueued once for each file.
local function enqueue_file_removed(id, owner, now_ms)
  task_enqueue(core, string.match(KEYS[core], '{(p%d+)}') .. '-file:' .. id, 'file_removed',
    '{"group":"' .. group .. '","file":"' .. id .. '","owner":"' .. owner .. '"}', 'low', 0, now_ms, '')
end

-- enqueue_file_expire removes the files of a group that nobody has used in time. While one waits, no second one is put in: that
-- one is due earlier.
local function enqueue_file_expire(id, due_ms, now_ms)
  task_enqueue(core, id, 'file_expire', '{"group":"' .. group .. '"}', 'low', due_ms, now_ms, 'file_expire:' .. group)
end

-- enqueue_file_check does the same, and looks for files that no message names any longer.
local function enqueue_file_check(id, due_ms, now_ms)
  task_enqueue(core, id, 'file_expire', '{"group":"' .. group .. '"}', 'low', due_ms, now_ms, 'file_check:' .. group)
end

-- enqueue_file_trim does so at once, where messages that name files were trimmed.
local function enqueue_file_trim(id, now_ms)
  task_enqueue(core, id, 'file_expire', '{"group":"' .. group .. '"}', 'low', 0, now_ms, 'file_trim:' .. group)
end

-- enqueue_file_gone removes the files of a deleted group.
local function enqueue_file_gone(id, now_ms)
  task_enqueue(core, id, 'file_gone', '{"group":"' .. group .. '"}', 'low', 0, now_ms, 'file_gone:' .. group)
end
