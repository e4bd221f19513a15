-- include: base
-- needs: requests asked
-- How long a request can be answered: 30 days.
local request_ms = 30 * 86400000

-- over_requests are some users whose requests are over.
local function over_requests(now_ms)
  return redis.call('ZRANGEBYSCORE', asked, '-inf', int(now_ms - request_ms), 'LIMIT', 0, 100)
end

-- asked_at is when a user asked to join, in ms as it is shown; nil: they did not, or too long ago.
local function asked_at(user, now_ms)
  local since = redis.call('ZSCORE', asked, user)
  if not since or tonumber(since) <= now_ms - request_ms then return nil end
  return tonumber(string.match(redis.call('HGET', requests, user), '^%d+'))
end
