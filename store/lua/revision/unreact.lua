-- Takes the emoji out of some of the reactions to a deleted message, from an id on.
--
-- KEYS  meta msgs reacted kept
-- ARGV  epoch target from deleted_at deletion channel
--   deletion  id of the entry that deleted the message
-- Returns {OK, id to go on from, 0 at the end}
-- Refuses NOTFOUND
-- include: unreact
-- include: keep_held
local has_epoch, hold = unpack(redis.call('HMGET', meta, 'epoch', 'hold'))
if has_epoch ~= epoch then return {'NOTFOUND'} end

local newest
local function before(id, json)
  newest = id
  if hold then keep_held(id, deletion, json) end
end
local next = unreact(target, from, deleted_at, before, {})
if newest then redis.call(PUBLISH, channel, 'x ' .. epoch .. ' ' .. newest) end
return {'OK', next or 0}
