-- needs: meta requests asked
-- drop_request forgets that a user asked to join. has is the field asked of the group: without it nobody did.
local function drop_request(has, user)
  if not has or redis.call('HDEL', requests, user) == 0 then return end
  redis.call('ZREM', asked, user)
  if redis.call('EXISTS', requests) == 0 then redis.call('HDEL', meta, 'asked') end
end
