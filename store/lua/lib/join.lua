-- include: notice
-- include: asked
-- include: log_grew
-- include: task_member
-- needs: last_id members joined managers seen read msgs skip user at_ms mark rest task_id trim_id epoch history keep backlog_max has_asked
-- join makes user a member with a notice, for a caller, and does what a new member brings about. what is joined or accepted. It returns
-- after which id the member starts.
local function join(caller, role, what, now_ms)
  local before, stored = tonumber(redis.call('GET', last_id)), redis.call('ZCARD', msgs)
  local id = notice(epoch, mark, rest, at_ms)
  -- With history, from just before the lowest stored id; without it, from just before the notice.
  local start = history == '1' and int(before - stored) or int(before)
  redis.call('HSET', members, user, role .. ' ' .. at_ms)
  redis.call('ZADD', joined, id, user)
  redis.call('ZADD', seen, start, user)
  redis.call('ZADD', read, start, user)
  if role == 'admin' then redis.call('ZADD', managers, id, user) end
  drop_request(has_asked, user)
  if caller ~= user then advance(caller, id) end
  log_grew(epoch, id, now_ms)
  enqueue_member(task_id, epoch, id, caller, what, {user}, at_ms, now_ms)
  local last, keep, backlog_max = tonumber(id), tonumber(keep), tonumber(backlog_max)
  -- include: trim_64th
  if more then
    -- include: task_trim
    enqueue_trim(trim_id, epoch, now_ms)
  end
  return start
end
