-- Records the number of partitions under a prefix, and says what it is.
--
-- KEYS  layout
-- ARGV  partitions
--
-- Returns the number that was recorded first. What is known is only read, so a full server answers too.
-- Errors: none of its own.
local known = redis.call('HGET', layout, 'partitions')
if not known then redis.call('HSET', layout, 'partitions', partitions) end
return tonumber(known or partitions)
