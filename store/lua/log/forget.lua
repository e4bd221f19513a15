-- Forgets a sender who has sent nothing for a day: their retry keys, and their own ids once none is counted.
--
-- KEYS  last_id meta senders sent by
-- ARGV  user
-- Returns {OK}
-- include: prune
local at_ms = redis.call('ZSCORE', senders, user)
local backlog_max = redis.call('HGET', meta, 'backlog_max')
local now_ms = clock_ms()
if not at_ms or not backlog_max or tonumber(at_ms) > now_ms - 86400000 then return {'OK'} end

-- Most plain sends do not update senders. So the first check stores the newest retry key under the empty name, and a check a day
-- later removes the keys if there is no newer one.
local all, newest, id = redis.call('HGETALL', sent), nil, 0
for i = 2, #all, 2 do
  local at = tonumber(string.match(all[i], '^%d+'))
  if at > id then newest, id = all[i], at end
end
if newest and redis.call('HGET', sent, '') ~= newest then
  redis.call('HSET', sent, '', newest)
  redis.call('ZADD', senders, int(now_ms), user)
  return {'OK'}
end

local floor = tonumber(redis.call('GET', last_id)) - tonumber(backlog_max)
redis.call('UNLINK', sent)
prune(by, floor)
if redis.call('ZCARD', by) == 0 then
  redis.call('ZREM', senders, user)
elseif redis.call('ZCOUNT', by, '-inf', int(floor)) == 0 then
  -- Own ids that are still counted: check again in a day.
  redis.call('ZADD', senders, int(now_ms), user)
end
return {'OK'}
