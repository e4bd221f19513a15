-- needs: added
-- free_added forgets who added the user to a group.
local function free_added(group)
  local who = string.match(redis.call('HGET', added, group) or '', '^%S+')
  if not who then return end
  redis.call('HDEL', added, group)
  if redis.call('HINCRBY', added, '.' .. who, -1) <= 0 then redis.call('HDEL', added, '.' .. who) end
end
