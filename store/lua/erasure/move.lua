-- Records how far an erasure is, and the groups that it has reached since. A repeat changes nothing.
--
-- KEYS  erasure erasure_groups erasure_held
-- ARGV  phase cursor messages:int groups:int held:int names...
--   messages  whose content was erased, so far
--   groups    how many names are of groups that had something of the person
--   held      how many names of groups under a legal hold follow; the rest are no longer under one
-- Returns {OK}
-- Refuses NOTFOUND
local state = redis.call('HGET', erasure, 'state')
if not state then return {'NOTFOUND'} end

redis.call('HSET', erasure, 'phase', phase, 'cursor', cursor, 'messages', string.format('%.0f', messages),
  'state', state == 'done' and 'done' or 'running')
for i = names, #ARGV do
  local n = i - names
  if n < groups then
    redis.call('SADD', erasure_groups, ARGV[i])
  elseif n < groups + held then
    redis.call('SADD', erasure_held, ARGV[i])
  else
    redis.call('SREM', erasure_held, ARGV[i])
  end
end
return {'OK'}
