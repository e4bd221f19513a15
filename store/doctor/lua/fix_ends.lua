-- Has a message of a group go when it says, or not at all if it says nothing or was never sent.
--
-- KEYS  last_id msgs expires
-- ARGV  id says at_ms
--   says   the end that the message says, '' for none; at_ms is that time
-- Returns {OK}
local stored = redis.call('ZRANGEBYSCORE', msgs, id, id)[1]
local found = stored and string.match(string.sub(stored, -64), ',"expires_at":"([^"]+)"}$') or ''
if found ~= says then return {'OK'} end
if says ~= '' then
  redis.call('ZADD', expires, at_ms, id)
elseif stored or tonumber(id) > tonumber(redis.call('GET', last_id) or 0) then
  redis.call('ZREM', expires, id)
end
return {'OK'}
