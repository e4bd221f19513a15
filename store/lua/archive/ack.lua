-- Moves the position of the archiver in a group forward, once its database holds the entries: joins if it has not, and trims what
-- that frees. If the log lost its end, the position goes back to that.
--
-- KEYS  last_id meta seen msgs reactions reacted wants core:enqueue
-- ARGV  group epoch from:int id:int mark trim_id
--   from     lowest id that the database got now: what lies below it has to be archived already, or must not be stored
--   id       highest id that the database got; from - 1 if there was nothing to archive
--   mark     of the entry id, '' if there was none
--   trim_id  of a task that continues if there is more to trim
-- Returns {OK, id up to which the group is archived}
-- Refuses NOTFOUND (the group is gone), CONFLICT (the archive was switched off, or the log has changed: read again)
-- include: trim
-- include: task_trim
local has_epoch, keep, backlog_max = unpack(redis.call('HMGET', meta, 'epoch', 'keep', 'backlog_max'))
if has_epoch ~= epoch then return {'NOTFOUND'} end
if redis.call('HEXISTS', wants, 'archive') == 0 then return {'CONFLICT'} end
local last, stored = tonumber(redis.call('GET', last_id)), redis.call('ZCARD', msgs)
if id > last then return {'CONFLICT'} end
-- The same entry at the end means the same entries before it: a log only ever loses its end.
local entry = id >= from and redis.call('ZRANGEBYSCORE', msgs, int(id), int(id))[1]
if entry and string.match(entry, '^%d+ (%S+)') ~= mark then return {'CONFLICT'} end
local archived = redis.call('ZSCORE', seen, '$archive')
archived = archived and math.min(tonumber(archived), last)
local gap = not archived or from > archived + 1
if gap and (from > last - stored + 1 or id < last - stored) then return {'CONFLICT'} end

if gap then redis.call('HSET', meta, 'archived_from', int(from)) end
archived = math.max(archived or 0, id)
redis.call('ZADD', seen, int(archived), '$archive')
if trim_log(last, stored, tonumber(keep), tonumber(backlog_max)) then enqueue_trim(trim_id, epoch, clock_ms()) end
return {'OK', archived}
