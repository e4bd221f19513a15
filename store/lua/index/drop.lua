-- Takes a group out of a user's index.
--
-- KEYS  groups
-- ARGV  group channel
-- Returns {OK, 1 dropped or 0 was not there}
local dropped = redis.call('ZREM', groups, group)
if dropped == 1 then redis.call('PUBLISH', channel, 'l ' .. group) end
return {'OK', dropped}
