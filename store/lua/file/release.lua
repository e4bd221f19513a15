-- Frees what a file took of its owner's quota, once.
--
-- KEYS  uploads user_files files_bytes
-- ARGV  file
-- Returns {OK}
-- include: base
local reserved = redis.call('HGET', uploads, file) or redis.call('HGET', user_files, file)
if not reserved then return {'OK'} end

redis.call('HDEL', uploads, file)
redis.call('HDEL', user_files, file)
local bytes = tonumber(string.match(reserved, '^%S+ (%d+)'))
if redis.call('INCRBY', files_bytes, int(-bytes)) <= 0 then redis.call('UNLINK', files_bytes) end
return {'OK'}
