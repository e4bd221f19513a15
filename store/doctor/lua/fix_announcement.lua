-- Adds an announcement that exists to the list, or removes one that does not.
--
-- KEYS  announcement announcements
-- ARGV  id
-- Returns {OK}
-- include: base
if redis.call('EXISTS', announcement) == 0 then
  redis.call('ZREM', announcements, id)
elseif not redis.call('ZSCORE', announcements, id) then
  -- No two share a position: it is the cursor of the list.
  local highest = redis.call('ZREVRANGE', announcements, 0, 0, 'WITHSCORES')[2]
  redis.call('ZADD', announcements, int(math.max(tonumber(redis.call('TIME')[1]) * 1000, tonumber(highest or 0) + 1)), id)
end
return {'OK'}
