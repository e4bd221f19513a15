-- include: int.lua
-- include: task_enqueue.lua
-- include: events_position.lua
-- log_grew makes the tasks that follow from a new entry, where anybody wants to know. wants is a HASH of each partition:
-- notify is the delay of notifications in ms, there once any device was registered; events is there while there is a
-- webhook. One task waits for a life of a group whatever comes meanwhile: it reads from where the last one ended. Its id
-- is that of the entry which made it necessary, so it is no other task's.
--
-- k        keys: wants, meta, qk (place of those of the core queue)
-- id       of the newest entry of this step
-- message  true where this step brought a text or data
-- first    id of the first entry of this step; may be left out where there is one only
local function log_grew(k, group, epoch, id, now_ms, message, first)
  local want = redis.call('HMGET', k.wants, 'notify', 'events')
  if not want[1] and not want[2] then return end
  local tag = string.match(k.wants, '{(p%d+)}')
  local subject = ':' .. group .. ':' .. epoch .. ':' .. id
  local payload = '{"group":"' .. group .. '","epoch":"' .. epoch .. '"}'
  if message and want[1] then
    task_enqueue(k.qk, tag .. '-notify' .. subject, 'notify', payload, 'normal', now_ms + tonumber(want[1]), now_ms,
      'notify:' .. group .. ':' .. epoch)
  end
  if want[2] then
    local generation, told = events_position(k)
    if not told then redis.call('HSET', k.meta, 'events', generation .. ' ' .. int(tonumber(first or id) - 1)) end
    task_enqueue(k.qk, tag .. '-events' .. subject, 'events', payload, 'normal', 0, now_ms, 'events:' .. group .. ':' .. epoch)
  end
end
