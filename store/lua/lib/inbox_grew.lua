-- include: base
-- include: task_notify_inbox
-- needs: wants reachable
-- inbox_grew enqueues the task that decides whether to notify a user of the inbox, if the user has a device. At most
-- one task per user and priority waits. Its id is that of the item that triggered it.
--
-- epoch     of the inbox
-- seq       of the newest item
-- priority  high or low
local function inbox_grew(user, epoch, seq, priority, now_ms)
  if redis.call('SISMEMBER', reachable, user) == 0 then return end
  local delay_ms = redis.call('HGET', wants, 'notify')
  if not delay_ms then return end
  enqueue_notify_inbox(string.match(wants, '{(p%d+)}') .. '-notify_inbox:' .. user .. ':' .. epoch .. ':' .. seq, user, priority,
    now_ms + tonumber(delay_ms), now_ms)
end
