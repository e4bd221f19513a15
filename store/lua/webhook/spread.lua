-- Tells a partition whether there are webhooks, so that new entries are told of. What is older than what it knows has no
-- effect.
--
-- KEYS  1 wants
-- ARGV  1 generation (0: there is no webhook), 2 version of the list
-- Returns {OK}
local known = tonumber(redis.call('HGET', KEYS[1], 'webhooks') or 0)
if tonumber(ARGV[2]) < known then return {'OK'} end
redis.call('HSET', KEYS[1], 'webhooks', ARGV[2])
if ARGV[1] == '0' then
  redis.call('HDEL', KEYS[1], 'events')
else
  redis.call('HSET', KEYS[1], 'events', ARGV[1] .. ' ' .. ARGV[2])
end
return {'OK'}
