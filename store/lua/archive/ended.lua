-- Tells whether a log has ended: neither the group nor an import under way has this epoch, and none ever will. Only a partition
-- that has known this archive since before it was switched off can tell: one that lost its data has lost its groups too.
-- Only reads.
--
-- KEYS  meta import wants
-- ARGV  epoch id
--   id  of the database of the archive
-- Returns {OK, 1 if the log has ended}
if redis.call('HGET', wants, 'archive_back') ~= id then return {'OK', 0} end
local ended = redis.call('HGET', meta, 'epoch') ~= epoch and redis.call('HGET', import, 'epoch') ~= epoch
return {'OK', ended and 1 or 0}
