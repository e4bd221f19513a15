-- Counts that someone adds the user to a group, once for the group.
--
-- KEYS  added
-- ARGV  group by most:int
--   by    names who adds the user
--   most  groups to which they may have added the user
-- Returns {OK, 1 if it counts now, 0 if it did before, -1 if the limit is reached}
-- include: base
-- include: added_free
local who = string.match(redis.call('HGET', added, group) or '', '^%S+')
if who == by then return {'OK', 0} end
if tonumber(redis.call('HGET', added, '.' .. by) or 0) >= most then return {'OK', -1} end

free_added(group)
redis.call('HSET', added, group, by .. ' ' .. int(clock_ms()))
redis.call('HINCRBY', added, '.' .. by, 1)
return {'OK', 1}
