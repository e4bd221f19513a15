-- Forgets the version of a partition's copy of the webhooks' state, so that the state is copied whatever the copy is of. Where
-- there is no webhook, nothing is copied, and nobody wants events.
--
-- KEYS  wants
-- ARGV  generation
-- Returns {OK}
redis.call('HDEL', wants, 'webhooks')
if generation == '0' then redis.call('HDEL', wants, 'events') end
return {'OK'}
