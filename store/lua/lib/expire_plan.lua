-- include: base
-- include: task_expire
-- needs: meta expires wants core group
-- plan_expire has a task wait for the earliest end in a group, and notes in meta.expiring when that is; without one nothing is noted.
-- It is the only one that changes the note, but for a new entry with an earlier end.
local function plan_expire(epoch, now_ms)
  local first = redis.call('ZRANGE', expires, 0, 0, 'WITHSCORES')
  if not first[1] then
    redis.call('HDEL', meta, 'expiring')
    return
  end
  local due_ms = int(tonumber(first[2]))
  redis.call('HSET', meta, 'expiring', due_ms)
  enqueue_expire(string.match(wants, '{(p%d+)}') .. '-expire:' .. group .. ':' .. epoch .. ':' .. first[1] .. ':' .. int(now_ms), epoch, tonumber(due_ms), now_ms)
end
