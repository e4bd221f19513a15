-- Records the number of partitions under a prefix, and returns it.
--
-- KEYS  layout
-- ARGV  partitions
--
-- Returns the number that was recorded first. A recorded one is only read, so this works on a full server too.
-- Errors: none of its own.
local known = redis.call('HGET', layout, 'partitions')
if not known then redis.call('HSET', layout, 'partitions', partitions) end
return tonumber(known or partitions)
