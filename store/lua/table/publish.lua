-- Tells nodes that things have changed which are kept elsewhere: a table of nothing but removals. Only its newest changes are known;
-- a node that missed older ones takes everything for changed.
--
-- KEYS  tables rows_gone
-- ARGV  name known:flag known_max:int channel ids...
--   known  only if anything was ever published
-- Returns {OK}
-- include: base
local before = redis.call('HGET', tables, name)
if known and not before then return {'OK'} end
local version = math.max(clock_ms(), tonumber(before or 0) + 1)

redis.call('HSET', tables, name, int(version))
for i = ids, #ARGV do
  redis.call('ZADD', rows_gone, int(version), ARGV[i])
end
local more = redis.call('ZCARD', rows_gone) - known_max
if more > 0 then
  local oldest = redis.call('ZRANGE', rows_gone, 0, more - 1, 'WITHSCORES')
  redis.call('ZREMRANGEBYRANK', rows_gone, 0, more - 1)
  redis.call('HSET', tables, name .. ':forgotten', int(oldest[#oldest]))
end
redis.call(PUBLISH, channel, 't')
return {'OK'}
