-- Adds users to the list of all known users, as ones who use the server.
--
-- KEYS  users unused
-- ARGV  them...
-- Returns {OK}
for i = them, #ARGV do
  redis.call('ZADD', users, 0, ARGV[i])
  redis.call('SREM', unused, ARGV[i])
end
return {'OK'}
