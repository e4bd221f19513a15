-- Adds a sender who has retry keys to the list by which they are removed in time.
--
-- KEYS  inbox_senders own
-- ARGV  user
-- Returns {OK}
-- include: base
local now = redis.call('TIME')
if redis.call('EXISTS', own) == 1 then redis.call('ZADD', inbox_senders, 'NX', int(tonumber(now[1]) * 1000), user) end
return {'OK'}
