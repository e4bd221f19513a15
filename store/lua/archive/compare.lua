-- Begins, or ends, a pass over all logs of an archive that was switched off and on again. A pass that began before it was last switched on
-- ends none.
--
-- KEYS  wants
-- ARGV  id pass ended:flag
--   id    of the database
--   pass  names the pass
-- Returns {OK}
local back, begun = unpack(redis.call('HMGET', wants, 'archive_back', 'archive_pass'))
if back ~= id then return {'OK'} end
if not ended then
  redis.call('HSET', wants, 'archive_pass', pass)
elseif begun == pass then
  redis.call('HDEL', wants, 'archive_back', 'archive_pass')
end
return {'OK'}
