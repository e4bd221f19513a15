-- Reads entries of a log and its end: replaces a transaction of log/lasts.lua and a range on a server that is full and
-- queues nothing. Only reads.
--
-- KEYS  last_id meta msgs
-- ARGV  from limit:int
-- Returns {OK, last (-1 if there is no group), epoch (''), list of messages}
local epoch = redis.call('HGET', meta, 'epoch')
return {'OK', epoch and redis.call('GET', last_id) or '-1', epoch or '',
  redis.call('ZRANGEBYSCORE', msgs, from, '+inf', 'LIMIT', 0, limit)}
