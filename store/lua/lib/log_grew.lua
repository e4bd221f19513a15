-- include: base
-- include: webhook_position
-- include: task_log
-- include: task_archive
-- needs: wants meta group
-- log_grew enqueues the tasks that a new entry needs, if there is anyone to act on it. wants is a HASH of each
-- partition: notify is the delay of notifications in ms, present once any device was registered; events is present
-- while there is a webhook; archive is the delay of archiving in ms, present while there is an archive. At most one
-- task of each kind waits for a life of a group: it reads on from where the last one ended. Its id is that of the entry
-- that triggered it, so no other task has it.
--
-- id       of the newest entry of this step
-- message  true if this step added a text or data
-- root     of the thread that it added a reply to; nil: it added none
-- first    id of the first entry of this step; optional if there is only one
local function log_grew(epoch, id, now_ms, message, first, root)
  local notify_ms, events, archive_ms = unpack(redis.call('HMGET', wants, 'notify', 'events', 'archive'))
  if not notify_ms and not events and not archive_ms then return end
  local tag = string.match(wants, '{(p%d+)}')
  local subject = ':' .. group .. ':' .. epoch .. ':' .. id
  if message and notify_ms then
    enqueue_notify(tag .. '-notify' .. subject, epoch, now_ms + tonumber(notify_ms), now_ms)
  end
  if root and notify_ms then
    enqueue_notify_thread(tag .. '-notify' .. subject, epoch, root, now_ms + tonumber(notify_ms), now_ms)
  end
  if events then
    local generation, evented = webhook_position()
    if not evented then redis.call('HSET', meta, 'events', generation .. ' ' .. int(tonumber(first or id) - 1)) end
    enqueue_events(tag .. '-events' .. subject, epoch, now_ms)
  end
  if archive_ms then enqueue_archive(tag .. '-archive' .. subject, epoch, now_ms + tonumber(archive_ms), now_ms) end
end
