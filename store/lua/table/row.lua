-- Reads a row of a table with its version. Only reads.
--
-- KEYS  rows rows_at
-- ARGV  id
-- Returns {OK, version, text}
-- Refuses NOTFOUND
-- include: base
local text = redis.call('HGET', rows, id)
if not text then return {'NOTFOUND'} end
return {'OK', int(redis.call('ZSCORE', rows_at, id) or 0), text}
