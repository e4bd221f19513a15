-- include: task_enqueue
-- needs: core group
-- enqueue_withdraw takes the content of deleted entries, by their ids, out of the deliveries to webhooks that report them.
local function enqueue_withdraw(id, epoch, ids, now_ms)
  task_enqueue(core, id, 'withdraw', '{"group":"' .. group .. '","epoch":"' .. epoch .. '","ids":[' .. table.concat(ids, ',') .. ']}',
    'high', 0, now_ms, '')
end
