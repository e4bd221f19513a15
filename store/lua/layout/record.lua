-- Records the version of the layout of a new store, or returns that of an old one.
--
-- KEYS  layout
-- ARGV  version
-- Returns {OK, version}. A recorded version is only read, so this works on a full server too.
local known = redis.call('HGET', layout, 'version')
if not known then redis.call('HSET', layout, 'version', version) end
return {'OK', known or version}
