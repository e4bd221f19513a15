-- Gives an inbox that nobody wrote to its epoch.
--
-- KEYS  1 inbox:base
-- ARGV  1 epoch
-- Returns {OK}
redis.call('HSETNX', KEYS[1], 'epoch', ARGV[1])
return {'OK'}
