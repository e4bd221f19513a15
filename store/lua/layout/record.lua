-- Records the version of the layout of a new store, and says what an old one has.
--
-- KEYS  layout
-- ARGV  version
-- Returns {OK, version}. What is known is only read, so a full server answers too.
local known = redis.call('HGET', layout, 'version')
if not known then redis.call('HSET', layout, 'version', version) end
return {'OK', known or version}
