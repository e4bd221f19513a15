-- include: base
-- include: webhook_position
-- include: task_log
-- include: task_archive
-- needs: wants meta group
-- log_grew makes the tasks that follow from a new entry, where anybody wants to know. wants is a HASH of each partition:
-- notify is the delay of notifications in ms, there once any device was registered; events is there while there is a
-- webhook; archive is the delay of archiving in ms, there while there is an archive. One task waits for a life of a group
-- whatever comes meanwhile: it reads from where the last one ended. Its id is that of the entry which made it necessary, so
-- it is no other task's.
--
-- id       of the newest entry of this step
-- message  true where this step brought a text or data
-- first    id of the first entry of this step; may be left out where there is one only
local function log_grew(epoch, id, now_ms, message, first)
  local notify_ms, events, archive_ms = unpack(redis.call('HMGET', wants, 'notify', 'events', 'archive'))
  if not notify_ms and not events and not archive_ms then return end
  local tag = string.match(wants, '{(p%d+)}')
  local subject = ':' .. group .. ':' .. epoch .. ':' .. id
  if message and notify_ms then
    enqueue_notify(tag .. '-notify' .. subject, epoch, now_ms + tonumber(notify_ms), now_ms)
  end
  if events then
    local generation, evented = webhook_position()
    if not evented then redis.call('HSET', meta, 'events', generation .. ' ' .. int(tonumber(first or id) - 1)) end
    enqueue_events(tag .. '-events' .. subject, epoch, now_ms)
  end
  if archive_ms then enqueue_archive(tag .. '-archive' .. subject, epoch, now_ms + tonumber(archive_ms), now_ms) end
end
