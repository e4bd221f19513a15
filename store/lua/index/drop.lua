-- Removes a group from a user's index with what they had begun to write there, and frees what it counts for the one who added the user.
--
-- KEYS  groups added drafts
-- ARGV  group channel
-- Returns {OK, 1 if it was removed, 0 if it was not there}
-- include: added_free
free_added(group)
redis.call('HDEL', drafts, group)
local dropped = redis.call('ZREM', groups, group)
if dropped == 1 then redis.call(PUBLISH, channel, 'l ' .. group) end
return {'OK', dropped}
