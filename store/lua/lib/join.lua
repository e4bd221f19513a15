-- include: notice
-- needs: last_id members joined managers seen read msgs skip
-- join makes a user a member with a notice. It returns the id of the notice, and after which id the member starts.
local function join(epoch, history, user, role, at_ms, mark, rest)
  local before, stored = tonumber(redis.call('GET', last_id)), redis.call('ZCARD', msgs)
  local id = notice(epoch, mark, rest, at_ms)
  -- With history, from just before the lowest stored id; without it, from just before the notice.
  local start = history == '1' and int(before - stored) or int(before)
  redis.call('HSET', members, user, role .. ' ' .. at_ms)
  redis.call('ZADD', joined, id, user)
  redis.call('ZADD', seen, start, user)
  redis.call('ZADD', read, start, user)
  if role == 'admin' then redis.call('ZADD', managers, id, user) end
  return id, start
end
