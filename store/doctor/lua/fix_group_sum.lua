-- Corrects how many bytes the files of a group take, unless that has changed.
--
-- KEYS  meta
-- ARGV  was now
-- Returns {OK, 1 if it was corrected}
if (redis.call('HGET', meta, 'file_bytes') or '0') ~= was then return {'OK', 0} end
redis.call('HSET', meta, 'file_bytes', now)
return {'OK', 1}
