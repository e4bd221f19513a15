-- Records which folder or bucket holds the files of the store, unless one is recorded.
--
-- KEYS  blobs
-- ARGV  identity
-- Returns {OK, what is recorded}
local known = redis.call('GET', blobs)
if not known then redis.call('SET', blobs, identity) end
return {'OK', known or identity}
