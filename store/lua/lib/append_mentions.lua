-- append_mentions counts the mentions of an entry, unless it is in a thread, and has the mentioned users notified.
-- needs: call mentioned writing in_thread meta epoch number core group
-- include: base
-- include: task_mention
local function append_mentions(id)
  if in_thread then
    if #mentioned.users > 0 then enqueue_mention(mentioned.task_id, epoch, id, mentioned.from, mentioned.users, clock_ms()) end
    return
  end
  local floor = number - tonumber(call('HGET', meta, 'backlog_max'))
  local function add(key, score)
    call('ZADD', key, score, id)
    if floor > 0 and call('ZCARD', key) % 64 == 0 then call('ZREMRANGEBYSCORE', key, int(-floor), int(floor)) end
  end
  for _, key in ipairs(mentioned.keys) do add(key, id) end
  if mentioned.all then call('HSET', meta, 'alls', '1') end
  if mentioned.own then add(mentioned.own, '-' .. id) end
  if #mentioned.users > 0 and not writing then enqueue_mention(mentioned.task_id, epoch, id, mentioned.from, mentioned.users, clock_ms()) end
end
