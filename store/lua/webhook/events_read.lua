-- Reads the entries of a group that there are no events for yet: at most limit, and no more once they are bytes_max long
-- together.
--
-- KEYS  meta wants msgs
-- ARGV  limit bytes_max:int
-- Returns {OK, epoch, generation ('0' where there is no webhook), version of the list of webhooks, id up to which there are
--       events (-1 where there was no entry since there are any webhooks), then the stored messages}
-- Refuses NOTFOUND
-- include: webhook_position
local epoch = redis.call('HGET', meta, 'epoch')
if not epoch then return {'NOTFOUND'} end
local generation, position = webhook_position()
if not generation then return {'OK', epoch, '0', '0', -1} end
local version = string.match(redis.call('HGET', wants, 'events'), '%d+$')
if not position then return {'OK', epoch, generation, version, -1} end
local page, bytes = {'OK', epoch, generation, version, position}, 0
local above = string.format('(%.0f', position)
for _, member in ipairs(redis.call('ZRANGEBYSCORE', msgs, above, '+inf', 'LIMIT', 0, limit)) do
  page[#page + 1] = member
  bytes = bytes + #member
  if bytes >= bytes_max then break end
end
return page
