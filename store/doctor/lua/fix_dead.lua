-- Corrects the bytes of dead letters that are counted. What moves dead letters meanwhile changes the count and its error
-- in the same way, so only the difference matters; but another doctor may have corrected it.
--
-- KEYS  queue:work
-- ARGV  counted bytes
-- Returns {OK, 1 if it was corrected}
-- bind: work at queue
if (redis.call('HGET', counts, 'dead_bytes') or '0') ~= counted then return {'OK', 0} end
redis.call('HSET', counts, 'dead_bytes', bytes)
return {'OK', 1}
