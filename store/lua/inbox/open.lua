-- Gives an inbox that nobody wrote to its epoch.
--
-- KEYS  inbox_base
-- ARGV  epoch
-- Returns {OK}
redis.call('HSETNX', inbox_base, 'epoch', epoch)
return {'OK'}
