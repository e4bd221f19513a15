-- Records the layout of a new store, and says what an old one has.
--
-- KEYS  layout
-- ARGV  version partitions
-- Returns {OK, version, partitions}. A known layout is written again as it is: Sync needs something to wait for.
local has_version, has_partitions = unpack(redis.call('HMGET', layout, 'version', 'partitions'))
if has_version then version, partitions = has_version, has_partitions end
redis.call('HSET', layout, 'version', version, 'partitions', partitions)
return {'OK', version, partitions}
