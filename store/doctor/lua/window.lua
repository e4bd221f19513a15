-- Reads a page of a ZSET of a group, and where its log begins and ends: pages with the same two belong to one instant, because
-- whatever changes reactions also appends an entry, or trims. Only reads.
--
-- KEYS  last_id msgs set
-- ARGV  from:int limit:int
-- Returns {OK, where the log ends, how many messages are stored, the members of the set}
return {'OK', redis.call('GET', last_id) or '0', redis.call('ZCARD', msgs), redis.call('ZRANGE', set, from, from + limit - 1)}
