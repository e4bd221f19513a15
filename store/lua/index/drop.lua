-- Takes a group out of a user's index.
--
-- KEYS  1 groups of the user
-- ARGV  1 group, 2 channel
-- Returns {OK, 1 dropped or 0 was not there}
local groups = KEYS[1]
local group, channel = ARGV[1], ARGV[2]

local dropped = redis.call('ZREM', groups, group)
if dropped == 1 then redis.call('PUBLISH', channel, 'l ' .. group) end
return {'OK', dropped}
