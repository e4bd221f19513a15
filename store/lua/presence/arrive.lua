-- Records that users have sessions on a node, and that the node is alive. Members of live are `<node> <user>`, all of
-- score 0, so that those of one node are adjacent.
--
-- KEYS  live nodes
-- ARGV  node lasts_ms:int users...
--   lasts_ms  how long a heartbeat counts
--   users     at most 500
-- Returns {OK}
-- include: base
local added = {}
for i = users, #ARGV do
  added[#added + 1] = 0
  added[#added + 1] = node .. ' ' .. ARGV[i]
end

redis.call('ZADD', nodes, int(clock_ms() + lasts_ms), node)
redis.call('ZADD', live, unpack(added))
return {'OK'}
