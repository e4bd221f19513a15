-- Raises the hints in a user's index; never lowers one, never adds a group.
--
-- KEYS  1 groups of the user
-- ARGV  seen and group of each, at most 500
-- Returns {OK}
redis.call('ZADD', KEYS[1], 'XX', 'GT', unpack(ARGV))
return {'OK'}
