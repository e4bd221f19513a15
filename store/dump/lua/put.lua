-- Writes values of a key. Repeating it changes nothing.
--
-- KEYS  key
-- ARGV  kind at:int values...
--   at  how many values the calls before have written: elements of a list are appended behind that many only
-- Returns {OK}
-- Refuses CONFLICT where a list is shorter than that
if kind == 'string' then
  redis.call('SET', key, ARGV[values])
elseif kind == 'hash' then
  redis.call('HSET', key, unpack(ARGV, values))
elseif kind == 'set' then
  redis.call('SADD', key, unpack(ARGV, values))
elseif kind == 'zset' then
  redis.call('ZADD', key, unpack(ARGV, values))
else
  local length = redis.call('LLEN', key)
  if length < at then return {'CONFLICT'} end
  if length == at then redis.call('RPUSH', key, unpack(ARGV, values)) end
end
return {'OK'}
