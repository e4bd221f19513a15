-- Records that users have sessions on a node, and that the node is alive. Members of live are `<node> <user>`, all of
-- score 0, so that those of one node are adjacent. Of those who do not hide, present has since when, and in which state.
--
-- KEYS  live nodes present hidden
-- ARGV  node lasts_ms:int users...
--   lasts_ms  how long a heartbeat counts
--   users     at most 500
-- Returns {OK}
-- include: base
local now_ms = clock_ms()
local added, names = {}, {}
for i = users, #ARGV do
  added[#added + 1] = 0
  added[#added + 1] = node .. ' ' .. ARGV[i]
  names[#names + 1] = ARGV[i]
end
local hiding = redis.call('SMISMEMBER', hidden, unpack(names))

redis.call('ZADD', nodes, int(now_ms + lasts_ms), node)
redis.call('ZADD', live, unpack(added))
for i, name in ipairs(names) do
  if hiding[i] == 0 then redis.call('HSETNX', present, node .. ' ' .. name, int(now_ms) .. ' online') end
end
return {'OK'}
