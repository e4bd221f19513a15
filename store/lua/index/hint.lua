-- Raises the hints in a user's index; never lowers one, never adds a group.
--
-- KEYS  groups
-- ARGV  hints(seen group)...
--   hints  at most 500
-- Returns {OK}
redis.call('ZADD', groups, 'XX', 'GT', unpack(ARGV, hints))
return {'OK'}
