-- Puts a group into a user's index.
--
-- KEYS  1 groups of the user
-- ARGV  1 group, 2 seen, 3 groups at most, 4 channel
-- Returns {OK, 1 added, 0 was there, -1 the index is full}
local groups = KEYS[1]
local group, seen, groups_max, channel = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]

if redis.call('ZSCORE', groups, group) then return {'OK', 0} end
if redis.call('ZCARD', groups) >= groups_max then return {'OK', -1} end

redis.call('ZADD', groups, seen, group)
redis.call('PUBLISH', channel, 'j ' .. group)
return {'OK', 1}
