-- Records the version of the layout of a new store, or returns that of an old one.
--
-- KEYS  layout
-- ARGV  version
-- Returns {OK, version, id of the file whose import is under way or '', how many of its lines are in the store}. A
-- recorded version is only read, so this works on a full server too.
local known, import, lines = unpack(redis.call('HMGET', layout, 'version', 'import', 'import_lines'))
if not known then redis.call('HSET', layout, 'version', version) end
return {'OK', known or version, import or '', lines or 0}
