-- Notes that users have no session on a node any longer.
--
-- KEYS  1 live
-- ARGV  1 node, then the users, at most 500
-- Returns {OK}
local live, node = KEYS[1], ARGV[1]
local gone = {}
for i = 2, #ARGV do gone[#gone + 1] = node .. ' ' .. ARGV[i] end

redis.call('ZREM', live, unpack(gone))
return {'OK'}
