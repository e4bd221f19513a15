-- Removes the keys that users of a deleted group left behind, and takes them off the lists. Whoever is in neither list
-- was cleaned up before, and may have keys in a new group of the same id: those stay.
--
-- KEYS  1 gone:members, 2 gone:senders, then sent:, by: and at: of each user
-- ARGV  the users
-- Returns {OK, 1 where there is more}
local gone_members, gone_senders = KEYS[1], KEYS[2]

for i, user in ipairs(ARGV) do
  local listed = redis.call('ZREM', gone_members, user) + redis.call('ZREM', gone_senders, user)
  if listed > 0 then redis.call('UNLINK', KEYS[3 * i], KEYS[3 * i + 1], KEYS[3 * i + 2]) end
end
return {'OK', redis.call('EXISTS', gone_members, gone_senders) > 0 and 1 or 0}
