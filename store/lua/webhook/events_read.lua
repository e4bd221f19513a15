-- Reads the entries of a group without events: for all webhooks that keep up, or for one that is behind. At most limit,
-- and no more once their total length reaches bytes_max.
--
-- KEYS  meta wants msgs
-- ARGV  webhook limit bytes_max:int
--   webhook  one that is behind, or ''
-- Returns {OK, epoch, generation ('0' if there is no webhook), version of the list of webhooks, id up to which there are
--       events (-1 if there was no entry since the first webhook, or if webhook is not behind), the same for all
--       that keep up, what lib/webhook_position.lua returns of those behind, id of the newest deletion or '', then the stored messages}
-- Refuses NOTFOUND
-- include: base
-- include: webhook_position
local epoch, deleted = unpack(redis.call('HMGET', meta, 'epoch', 'deleted'))
if not epoch then return {'NOTFOUND'} end
local generation, position, lagging = webhook_position()
if not generation then return {'OK', epoch, '0', '0', -1, -1, '', ''} end
local version = string.match(redis.call('HGET', wants, 'events'), '%d+$')
if not position then return {'OK', epoch, generation, version, -1, -1, '', ''} end
local from, to = position, '+inf'
if webhook ~= '' then
  -- include: webhook_behind
  from, to = webhook_behind(lagging).at[webhook] or -1, int(position)
end
local page, bytes = {'OK', epoch, generation, version, from, position, lagging, deleted or ''}, 0
if from < 0 then return page end
for _, member in ipairs(redis.call('ZRANGEBYSCORE', msgs, '(' .. int(from), to, 'LIMIT', 0, limit)) do
  page[#page + 1] = member
  bytes = bytes + #member
  if bytes >= bytes_max then break end
end
return page
