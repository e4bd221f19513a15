-- include: task_enqueue
-- needs: core group
-- enqueue_stream ends the stream entry_id once its author is silent; id is stream_task(epoch, entry_id).
local function stream_task(epoch, entry_id)
  return string.match(KEYS[core], '{(p%d+)}') .. '-stream:' .. group .. ':' .. epoch .. ':' .. entry_id
end

local function enqueue_stream(id, epoch, entry_id, due_ms, now_ms)
  task_enqueue(core, id, 'stream', '{"group":"' .. group .. '","epoch":"' .. epoch .. '","id":' .. entry_id .. '}',
    'normal', due_ms, now_ms, '')
end
