-- needs: wants meta
-- webhook_position returns since when there are webhooks, and up to which entry of a group events were made for them.
-- This is in the group's meta: events is "<generation> <id>", for all webhooks that keep up, and behind is
-- "<generation>", followed by " <webhook>:<id at which it fell behind>:<id up to which it has its events>" for each of
-- the others. A generation begins with the first webhook and ends with the last: positions of another generation mean
-- nothing.
--
-- Returns the generation, or nil if there is no webhook; the id, or nil if the group has had no entry since; and the
-- part of behind about webhooks, '' if all keep up
local function webhook_position()
  local events = redis.call('HGET', wants, 'events')
  if not events then return nil, nil, '' end
  local generation = string.match(events, '^%d+')
  local at, behind = unpack(redis.call('HMGET', meta, 'events', 'behind'))
  local before, id = string.match(at or '', '^(%d+) (%d+)$')
  if before ~= generation then return generation, nil, '' end
  local since, rest = string.match(behind or '', '^(%d+)(.*)$')
  return generation, tonumber(id), since == generation and rest or ''
end
