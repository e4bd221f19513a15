-- include: task_enqueue
-- needs: core group
-- enqueue_unreact goes on with the reactions to a deleted message, from an id on. deletion is the id of the entry that deleted it.
local function enqueue_unreact(id, epoch, target, from, deleted_at, deletion, now_ms)
  task_enqueue(core, id, 'unreact', '{"group":"' .. group .. '","epoch":"' .. epoch .. '","target":' .. target .. ',"from":' .. from ..
    ',"deleted_at":"' .. deleted_at .. '","deletion":' .. deletion .. '}', 'high', 0, now_ms, '')
end
