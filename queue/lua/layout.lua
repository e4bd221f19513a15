-- Records the number of partitions under a prefix and the version of the layout of its tasks, and returns both.
--
-- KEYS  layout
-- ARGV  partitions:int version:int
--   partitions  0 = whatever is recorded, or 1
--   version     the newest that the caller can read
--
-- Returns {partitions, version}: the number that was recorded first, and the version as it was before: 1 where tasks
-- are older than the record of it. An older version becomes the caller's, unless the number of partitions is not the
-- one that the caller wants. It is never lowered. Records that are up to date are only read, so this works on a full
-- server too.
-- Errors: none of its own.
local recorded = redis.call('HMGET', layout, 'partitions', 'tasks')
local known, was = tonumber(recorded[1] or nil), recorded[2]
if not known then
  known = math.max(partitions, 1)
  redis.call('HSET', layout, 'partitions', known)
  was = was or version
elseif not was then
  was = 1
end
was = tonumber(was) or 0
if recorded[2] ~= tostring(version) and was > 0 and was <= version and (partitions == 0 or partitions == known) then
  redis.call('HSET', layout, 'tasks', version)
end
return {known, was}
