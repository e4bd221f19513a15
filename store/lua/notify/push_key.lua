-- Keeps the key by which push services know this server: the first one that is offered.
--
-- KEYS  push_key
-- ARGV  offered
-- Returns {OK, the key that is kept}
redis.call('SETNX', push_key, offered)
return {'OK', redis.call('GET', push_key)}
