-- Puts a group on the list of all groups, if it still has the name that was read. One that is there stays.
--
-- KEYS  meta named
-- ARGV  group name folded
-- Returns {OK, 1, or 0 if the group is gone or has another name}
-- include: named
local has_name, was = unpack(redis.call('HMGET', meta, 'name', 'folded'))
if has_name ~= name then return {'OK', 0} end

if was ~= folded then
  unlist_name(was)
  redis.call('HSET', meta, 'folded', folded)
end
list_group(folded)
return {'OK', 1}
