-- Adds a stored entry that is not a message to skip, and removes a message from it.
--
-- KEYS  msgs skip
-- ARGV  id
-- Returns {OK}
local stored = redis.call('ZRANGEBYSCORE', msgs, id, id)[1]
local edits = stored and string.match(stored, '^%d+ %S+ (%S+) ')
if edits == 'x' then
  redis.call('ZADD', skip, id, id)
elseif edits then
  redis.call('ZREM', skip, id)
end
return {'OK'}
