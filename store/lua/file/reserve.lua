-- Reserves what an upload will take of its owner's quota. Reserving again for the same file changes nothing.
--
-- KEYS  uploads user_files files_bytes
-- ARGV  file group bytes:int bytes_max:int uploads_max:int
-- Returns {OK}
-- Refuses UPLOADS, QUOTA
-- include: base
if redis.call('HEXISTS', uploads, file) == 1 or redis.call('HEXISTS', user_files, file) == 1 then return {'OK'} end
if redis.call('HLEN', uploads) >= uploads_max then return {'UPLOADS'} end
if tonumber(redis.call('GET', files_bytes) or 0) + bytes > bytes_max then return {'QUOTA', 'your'} end

redis.call('HSET', uploads, file, group .. ' ' .. int(bytes) .. ' ' .. int(clock_ms()))
redis.call('INCRBY', files_bytes, int(bytes))
return {'OK'}
