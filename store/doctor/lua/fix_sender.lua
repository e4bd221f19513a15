-- Puts a sender whose retry keys are there on the list by which they are forgotten.
--
-- KEYS  inbox_senders own
-- ARGV  user
-- Returns {OK}
-- include: base
local now = redis.call('TIME')
if redis.call('EXISTS', own) == 1 then redis.call('ZADD', inbox_senders, 'NX', int(tonumber(now[1]) * 1000), user) end
return {'OK'}
