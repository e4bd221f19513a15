-- Records the layout of a new store, and says what an old one has.
--
-- KEYS  1 layout
-- ARGV  1 version, 2 partitions
-- Returns {OK, version, partitions}. A known layout is written again as it is: Sync needs something to wait for.
local layout = KEYS[1]
local version, partitions = ARGV[1], ARGV[2]

local has = redis.call('HMGET', layout, 'version', 'partitions')
if has[1] then version, partitions = has[1], has[2] end
redis.call('HSET', layout, 'version', version, 'partitions', partitions)
return {'OK', version, partitions}
