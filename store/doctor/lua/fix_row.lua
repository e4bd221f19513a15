-- Makes what a table says of a row agree with whether it is there, with a new version, so that every node reads it.
--
-- KEYS  tables rows rows_at rows_gone rows_used
-- ARGV  name id
-- Returns {OK}
local there, at = redis.call('HEXISTS', rows, id) == 1, redis.call('ZSCORE', rows_at, id)
local now = tonumber(redis.call('HGET', tables, name) or 0)
if not there then redis.call('HDEL', rows_used, id) end
if there and at and tonumber(at) <= now or not there and not at then return {'OK'} end
local time = redis.call('TIME')
local version = string.format('%.0f', math.max(tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000), now + 1))

redis.call('HSET', tables, name, version)
if there then
  redis.call('ZADD', rows_at, version, id)
  redis.call('ZREM', rows_gone, id)
else
  redis.call('ZREM', rows_at, id)
  redis.call('ZADD', rows_gone, version, id)
end
return {'OK'}
