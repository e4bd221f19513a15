-- Reads which entries edited a message: ids, - for none, x if it is deleted or not a message. Only reads.
--
-- KEYS  msgs
-- ARGV  id
-- Returns {OK, these, or '' if there is no such entry}
local stored = redis.call('ZRANGEBYSCORE', msgs, id, id)[1]
return {'OK', stored and string.match(stored, '^%d+ %S+ (%S+) ') or ''}
