-- Records that every group is in line with whether there is an archive, if that has not changed meanwhile.
--
-- KEYS  archive
-- ARGV  on:flag
-- Returns {OK}
if redis.call('HGET', archive, 'on') == (on and '1' or '0') then redis.call('HSET', archive, 'walked', '1') end
return {'OK'}
