-- Corrects the list of public groups for one group.
--
-- KEYS  meta public
-- ARGV  group entry
--   entry  that is on the list: `<name> NUL <group>`
-- Returns {OK}
local name, visibility = unpack(redis.call('HMGET', meta, 'name', 'visibility'))
local own = (name or '') .. '\0' .. group
if visibility == 'public' then redis.call('ZADD', public, 0, own) end
if visibility ~= 'public' or entry ~= own then redis.call('ZREM', public, entry) end
return {'OK'}
