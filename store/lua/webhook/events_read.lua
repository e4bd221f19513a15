-- include: events_position.lua
-- Reads the entries of a group that webhooks were not told of yet: at most limit, and no more once they are bytes_max long
-- together.
--
-- KEYS  1 meta, 2 wants, 3 msgs
-- ARGV  1 limit, 2 bytes_max
-- Returns {OK, epoch, generation ('0' where there is no webhook), version of the list of webhooks, id up to which they
--       were told (-1 where there was no entry since there are any), then the stored messages}
-- Refuses NOTFOUND
local k = {meta = KEYS[1], wants = KEYS[2]}
local epoch = redis.call('HGET', k.meta, 'epoch')
if not epoch then return {'NOTFOUND'} end
local generation, told = events_position(k)
if not generation then return {'OK', epoch, '0', '0', -1} end
local version = string.match(redis.call('HGET', k.wants, 'events'), '%d+$')
if not told then return {'OK', epoch, generation, version, -1} end
local page, bytes = {'OK', epoch, generation, version, told}, 0
local after = string.format('(%.0f', told)
for _, member in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], after, '+inf', 'LIMIT', 0, ARGV[1])) do
  page[#page + 1] = member
  bytes = bytes + #member
  if bytes >= tonumber(ARGV[2]) then break end
end
return page
