-- include: int.lua
-- Notes that users have live sessions on a node, and that the node lives. Members of live are `<node> <user>`, all of score 0,
-- so that those of a node stand together.
--
-- KEYS  1 live, 2 nodes
-- ARGV  1 node, 2 ms for which it vouches, then the users, at most 500
-- Returns {OK}
local live, nodes, node, vouch_ms = KEYS[1], KEYS[2], ARGV[1], tonumber(ARGV[2])
local added = {}
for i = 3, #ARGV do
  added[#added + 1] = 0
  added[#added + 1] = node .. ' ' .. ARGV[i]
end

redis.call('ZADD', nodes, int(clock_ms() + vouch_ms), node)
redis.call('ZADD', live, unpack(added))
return {'OK'}
