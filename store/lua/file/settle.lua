-- Records for its owner that an upload is whole, and no longer under way.
--
-- KEYS  uploads user_files
-- ARGV  file
-- Returns {OK}
local reserved = redis.call('HGET', uploads, file)
if reserved then
  redis.call('HSET', user_files, file, reserved)
  redis.call('HDEL', uploads, file)
end
return {'OK'}
