-- Records that every group is on the list of all groups.
--
-- KEYS  layout
-- Returns {OK}
redis.call('HSET', layout, 'listed', '1')
return {'OK'}
