-- Adds a stored entry that is not a message, or a reply in a thread, to skip, and removes any other message from it.
--
-- KEYS  msgs skip
-- ARGV  id
-- Returns {OK}
-- include: in_thread
local stored = redis.call('ZRANGEBYSCORE', msgs, id, id)[1]
local edits = stored and string.match(stored, '^%d+ %S+ (%S+) ')
if edits == 'x' or stored and string.find(stored, in_thread) then
  redis.call('ZADD', skip, id, id)
elseif edits then
  redis.call('ZREM', skip, id)
end
return {'OK'}
