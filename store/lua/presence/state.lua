-- Records that users with sessions on a node are away, or are back. Those who hide have no entry in present.
--
-- KEYS  present
-- ARGV  node state users...
--   state  online or away
--   users  at most 500
-- Returns {OK}
-- include: base
local now_ms = clock_ms()
for i = users, #ARGV do
  local entry = node .. ' ' .. ARGV[i]
  local before = redis.call('HGET', present, entry)
  if before and string.match(before, '%a+$') ~= state then redis.call('HSET', present, entry, int(now_ms) .. ' ' .. state) end
end
return {'OK'}
