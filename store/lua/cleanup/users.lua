-- Removes the keys that users of a deleted group left behind, and takes these users off the lists. A user on neither
-- list was cleaned up before, and may have keys in a new group with the same id: those stay.
--
-- KEYS  gone_members gone_senders left(sent by at)...
-- ARGV  users...
--   left  of each user
-- Returns {OK, 1 if there is more}
local position = left
for i = users, #ARGV do
  -- bind: left at position
  local listed = redis.call('ZREM', gone_members, ARGV[i]) + redis.call('ZREM', gone_senders, ARGV[i])
  if listed > 0 then redis.call('UNLINK', sent, by, at) end
  position = position + left_row
end
return {'OK', redis.call('EXISTS', gone_members, gone_senders) > 0 and 1 or 0}
