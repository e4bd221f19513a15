-- Removes a part of an announcement that is gone.
--
-- KEYS  own
-- Returns {OK}
redis.call('UNLINK', own)
return {'OK'}
