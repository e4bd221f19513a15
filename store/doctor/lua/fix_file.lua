-- Lists a file where it has to be listed: at its group, and, where no message names it, among those that go.
--
-- KEYS  files files_unused files_of
-- ARGV  group file unused:flag
-- Returns {OK}
if redis.call('HEXISTS', files, file) == 0 then return {'OK'} end
redis.call('HSET', files_of, file, group)
if unused then redis.call('ZADD', files_unused, 'NX', 1, file) end
return {'OK'}
