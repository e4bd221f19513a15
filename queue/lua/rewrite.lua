-- Replaces the payload of a task, in whatever state it is, if it is as it was read. A run that has begun keeps the one it was
-- given; the next one gets the new.
--
-- KEYS  queue:work
-- ARGV  id was now
--
-- Returns 1, or 0 if there is no such task, or its payload is another one.
-- Errors: none of its own.
-- bind: work at queue
local spec = redis.call('HGET', tasks, id)
local head = spec and string.match(spec, '^[^\n]*\n')
if not head or string.sub(spec, #head + 1) ~= was then return 0 end
redis.call('HSET', tasks, id, head .. now)
local account = string.match(id, '~.+$')
if redis.call('ZSCORE', dead, id) then
  redis.call('HINCRBY', counts, 'dead_bytes', #now - #was)
elseif account then
  redis.call('HINCRBY', counts, 'bytes' .. account, #now - #was)
end
return 1
