-- Reads which of some users, all of one partition, have a device, and which have a session on a live node. Only reads.
--
-- KEYS  reachable live nodes
-- ARGV  users...
--   users  at most 500
-- Returns {OK, then for each user: 1 if there is a device, else 0; 1 if a session is live, else 0}
-- include: base
local has = redis.call('SMISMEMBER', reachable, unpack(ARGV, users))
local is_live = {}
for _, node in ipairs(redis.call('ZRANGEBYSCORE', nodes, '(' .. int(clock_ms()), '+inf')) do
  local sessions = {}
  for i = users, #ARGV do sessions[#sessions + 1] = node .. ' ' .. ARGV[i] end
  for i, there in ipairs(redis.call('ZMSCORE', live, unpack(sessions))) do is_live[i] = is_live[i] or there end
end
local out = {'OK'}
for i, one in ipairs(has) do
  out[#out + 1] = one
  out[#out + 1] = is_live[i] and 1 or 0
end
return out
