-- Removes a group from a user's index.
--
-- KEYS  groups
-- ARGV  group channel
-- Returns {OK, 1 if it was removed, 0 if it was not there}
local dropped = redis.call('ZREM', groups, group)
if dropped == 1 then redis.call('PUBLISH', channel, 'l ' .. group) end
return {'OK', dropped}
