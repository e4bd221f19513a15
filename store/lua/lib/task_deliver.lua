-- include: base
-- include: task_enqueue
-- needs: core
-- delivery_to is what one user gets notified of, as JSON: counts, and the id of the message to show, 0 for none.
local function delivery_to(user, count, mentions, show)
  return '{"user":"' .. user .. '","count":' .. int(count) .. ',"mentions":' .. int(mentions) .. ',"show":' .. show .. '}'
end

-- enqueue_deliveries makes the notifications of members of a group: users are built with delivery_to. The kind 'tell'
-- is stored with its tasks, so it keeps its name. root is the thread that they are notified of, nil for the group.
local function enqueue_deliveries(id, group, epoch, last, priority, users, now_ms, root)
  task_enqueue(core, id, 'tell', '{"group":"' .. group .. '","epoch":"' .. epoch .. '","last":' .. int(last) .. (root and ',"thread":' .. int(root) or '') .. ',"at_ms":' ..
    int(now_ms) .. ',"priority":"' .. priority .. '","users":[' .. table.concat(users, ',') .. ']}', priority, 0, now_ms, '')
end

-- enqueue_inbox_deliveries makes the notifications of an inbox; Go builds the payload.
local function enqueue_inbox_deliveries(id, priority, payload, now_ms)
  task_enqueue(core, id, 'tell', payload, priority, 0, now_ms, '')
end
