-- Drops the version of a partition's copy of the webhooks' state, so that the state is copied again whatever it is. Without
-- webhooks nothing is copied, and no events are wanted.
--
-- KEYS  wants
-- ARGV  generation
-- Returns {OK}
redis.call('HDEL', wants, 'webhooks')
if generation == '0' then redis.call('HDEL', wants, 'events') end
return {'OK'}
