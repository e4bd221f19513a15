-- include: task_enqueue
-- needs: core group
-- enqueue_member updates the indexes of users after a change of the group, and notifies users that someone else added
-- or removed. what is joined, left or removed; notice_id is that of the (first) notice.
local function enqueue_member(id, epoch, notice_id, caller, what, users, at_ms, now_ms)
  task_enqueue(core, id, 'member', '{"group":"' .. group .. '","epoch":"' .. epoch .. '","id":' .. notice_id .. ',"by":"' ..
    caller .. '","what":"' .. what .. '","users":["' .. table.concat(users, '","') .. '"],"at_ms":' .. at_ms .. '}', 'high', 0,
    now_ms, '')
end
