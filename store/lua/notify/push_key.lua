-- Stores the key that identifies this server to push services: the first one that is offered.
--
-- KEYS  push_key
-- ARGV  offered
-- Returns {OK, the stored key}
redis.call('SETNX', push_key, offered)
return {'OK', redis.call('GET', push_key)}
