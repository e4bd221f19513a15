-- include: int.lua
-- Tells which of some users, all of one partition, have a device, and which have a live session on a node that lives. Only
-- reads.
--
-- KEYS  1 reachable, 2 live, 3 nodes
-- ARGV  the users, at most 500
-- Returns {OK, then of each user: 1 where there is a device or 0, 1 where a session is live or 0}
local reachable, live, nodes = KEYS[1], KEYS[2], KEYS[3]

local has = redis.call('SMISMEMBER', reachable, unpack(ARGV))
local is_live = {}
for _, node in ipairs(redis.call('ZRANGEBYSCORE', nodes, '(' .. int(clock_ms()), '+inf')) do
  local names = {}
  for i, user in ipairs(ARGV) do names[i] = node .. ' ' .. user end
  for i, there in ipairs(redis.call('ZMSCORE', live, unpack(names))) do is_live[i] = is_live[i] or there end
end
local out = {'OK'}
for i = 1, #ARGV do
  out[#out + 1] = has[i]
  out[#out + 1] = is_live[i] and 1 or 0
end
return out
