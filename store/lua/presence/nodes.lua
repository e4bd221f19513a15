-- Lists the live nodes on which a user has a session. Only reads.
--
-- KEYS  live nodes
-- ARGV  user
-- Returns {OK, nodes...}
-- include: base
local reply = {'OK'}
for _, node in ipairs(redis.call('ZRANGEBYSCORE', nodes, '(' .. int(clock_ms()), '+inf')) do
  if redis.call('ZSCORE', live, node .. ' ' .. user) then reply[#reply + 1] = node end
end
return reply
