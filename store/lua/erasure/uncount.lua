-- Forgets how many messages an erasure has erased in a partition.
--
-- KEYS  erased_counts
-- ARGV  erasure_id
-- Returns {OK}
redis.call('HDEL', erased_counts, erasure_id)
return {'OK'}
