-- Keeps the key by which push services know this server: the first one that is offered.
--
-- KEYS  1 push_key
-- ARGV  1 key to be kept where there is none
-- Returns {OK, the key that is kept}
redis.call('SETNX', KEYS[1], ARGV[1])
return {'OK', redis.call('GET', KEYS[1])}
