-- Forgets what a user has begun to write in a group, and tells their sessions.
--
-- KEYS  drafts
-- ARGV  group channel
-- Returns {OK}
if redis.call('HDEL', drafts, group) == 1 then redis.call(PUBLISH, channel, 'f ' .. group) end
return {'OK'}
