-- needs: wants meta
-- webhook_position tells since when there are webhooks, and up to which entry of a group events were made for them. It is kept
-- in the group's meta as "<generation> <id>". A generation begins with the first webhook and ends with the last: a position
-- of another one says nothing.
--
-- Returns the generation, or nil where there is no webhook; and the id, or nil where the group has had no entry since
local function webhook_position()
  local events = redis.call('HGET', wants, 'events')
  if not events then return nil end
  local generation = string.match(events, '^%d+')
  local before, id = string.match(redis.call('HGET', meta, 'events') or '', '^(%d+) (%d+)$')
  return generation, before == generation and tonumber(id) or nil
end
