-- Records that users no longer have a session on a node.
--
-- KEYS  live present
-- ARGV  node users...
--   users  at most 500
-- Returns {OK}
local gone = {}
for i = users, #ARGV do gone[#gone + 1] = node .. ' ' .. ARGV[i] end

redis.call('ZREM', live, unpack(gone))
redis.call('HDEL', present, unpack(gone))
return {'OK'}
