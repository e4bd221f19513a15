-- Reads which entries edited a message: ids, - for none, x where it is deleted or no message. Only reads.
--
-- KEYS  msgs
-- ARGV  id
-- Returns {OK, these, '' where there is no such entry}
local stored = redis.call('ZRANGEBYSCORE', msgs, id, id)[1]
return {'OK', stored and string.match(stored, '^%d+ %S+ (%S+) ') or ''}
