-- include: threads_change
-- needs: meta members joined managers seen read levels member_data notified threads replies at
-- drop_member takes a member out of a group, with all that only members have.
local function drop_member(user)
  redis.call('HDEL', members, user)
  redis.call('ZREM', joined, user)
  redis.call('ZREM', managers, user)
  redis.call('ZREM', seen, user)
  redis.call('ZREM', read, user)
  redis.call('HDEL', levels, user)
  redis.call('HDEL', member_data, user)
  redis.call('ZREM', notified, user)
  redis.call('UNLINK', at)
  leave_threads(user)
end
