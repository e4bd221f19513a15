-- Copies to a partition whether there are webhooks, so that its scripts make events of new entries. A copy older than
-- the one that the partition has is ignored.
--
-- KEYS  wants
-- ARGV  generation version
--   generation  0: there is no webhook
--   version     of the list
-- Returns {OK}
local known = tonumber(redis.call('HGET', wants, 'webhooks') or 0)
if tonumber(version) < known then return {'OK'} end
redis.call('HSET', wants, 'webhooks', version)
if generation == '0' then
  redis.call('HDEL', wants, 'events')
else
  redis.call('HSET', wants, 'events', generation .. ' ' .. version)
end
return {'OK'}
