-- Reads entries of a log and its end: replaces a transaction of log/lasts.lua and a range on a server that is full and
-- queues nothing. Only reads.
--
-- KEYS  last_id meta msgs
-- ARGV  from limit:int
-- Returns {OK, last (-1 if there is no group), epoch (''), trimmed (as in group/infos.lua), list of messages}
local epoch, trimmed = unpack(redis.call('HMGET', meta, 'epoch', 'trimmed'))
return {'OK', epoch and redis.call('GET', last_id) or '-1', epoch or '', trimmed or '',
  redis.call('ZRANGEBYSCORE', msgs, from, '+inf', 'LIMIT', 0, limit)}
