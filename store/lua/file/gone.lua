-- Removes some files of a deleted group.
--
-- KEYS  gone_files files_of core:enqueue
-- ARGV  group limit:int
-- Returns {OK, 1 if there may be more}
-- include: task_file
-- include: base
local found, now_ms = redis.call('HSCAN', gone_files, '0', 'COUNT', limit)[2], clock_ms()

for i = 1, math.min(#found, 2 * limit), 2 do
  local owner = string.match(found[i + 1], '^%S+ (%S+)')
  redis.call('HDEL', gone_files, found[i])
  redis.call('HDEL', files_of, found[i])
  enqueue_file_removed(found[i], owner, now_ms)
end
return {'OK', redis.call('EXISTS', gone_files)}
