-- Takes an entry off the list of all groups that is none of its group's.
--
-- KEYS  meta named
-- ARGV  group entry
-- Returns {OK}
local folded = redis.call('HGET', meta, 'folded')
local exists = redis.call('EXISTS', meta) == 1
if exists and (entry == '=' .. group .. '\0' .. group or folded and entry == '>' .. folded .. '\0' .. group) then return {'OK'} end
redis.call('ZREM', named, entry)
return {'OK'}
