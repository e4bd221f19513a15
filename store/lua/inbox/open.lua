-- Gives an inbox that nobody has written to an epoch.
--
-- KEYS  inbox_base
-- ARGV  epoch
-- Returns {OK}
redis.call('HSETNX', inbox_base, 'epoch', epoch)
return {'OK'}
