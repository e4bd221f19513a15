-- Corrects how many bytes the files of a user take, unless that has changed.
--
-- KEYS  files_bytes
-- ARGV  was now
-- Returns {OK, 1 if it was corrected}
if (redis.call('GET', files_bytes) or '0') ~= was then return {'OK', 0} end
if now == '0' then redis.call('UNLINK', files_bytes) else redis.call('SET', files_bytes, now) end
return {'OK', 1}
