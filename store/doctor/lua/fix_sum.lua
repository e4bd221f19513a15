-- Corrects how many bytes the files of a user take, unless that has changed.
--
-- KEYS  file_total
-- ARGV  was now
-- Returns {OK, 1 if it was corrected}
if (redis.call('GET', file_total) or '0') ~= was then return {'OK', 0} end
if now == '0' then redis.call('UNLINK', file_total) else redis.call('SET', file_total, now) end
return {'OK', 1}
