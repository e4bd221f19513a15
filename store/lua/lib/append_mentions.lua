-- append_mentions counts the mentions of an entry, and has the mentioned users notified.
-- needs: call mentioned meta epoch number core group
-- include: prune
-- include: task_mention
local function append_mentions(id)
  local floor = number - tonumber(call('HGET', meta, 'backlog_max'))
  for _, at_user in ipairs(mentioned.keys) do
    call('ZADD', at_user, id, id)
    if call('ZCARD', at_user) % 64 == 0 then prune(at_user, floor) end
  end
  if #mentioned.users > 0 then enqueue_mention(mentioned.task_id, epoch, id, mentioned.from, mentioned.users, clock_ms()) end
end
