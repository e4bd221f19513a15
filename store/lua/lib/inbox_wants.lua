-- include: int.lua
-- include: task_enqueue.lua
-- inbox_grew makes the task that looks whether a user is to be told of the inbox, where the user has a device. One task of a
-- priority waits for a user whatever comes meanwhile. Its id is that of the item which made it necessary.
--
-- k         keys: wants, reachable, qk (place of those of the core queue)
-- epoch     of the inbox
-- seq       of the newest item
-- priority  high or low
local function inbox_grew(k, user, epoch, seq, priority, now_ms)
  if redis.call('SISMEMBER', k.reachable, user) == 0 then return end
  local delay_ms = redis.call('HGET', k.wants, 'notify')
  if not delay_ms then return end
  task_enqueue(k.qk, string.match(k.wants, '{(p%d+)}') .. '-notify_inbox:' .. user .. ':' .. epoch .. ':' .. seq, 'notify_inbox',
    '{"user":"' .. user .. '"}', priority, now_ms + tonumber(delay_ms), now_ms, 'notify_inbox:' .. priority .. ':' .. user)
end
