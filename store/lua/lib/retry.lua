-- include: base
-- needs: sent
-- A retry key is a field of the sender's HASH: `<id> <ms> <mark> <hash of the content>` of the entry it stands for.

-- cut_keys removes the oldest retry keys down to keys_max, but only once there are 512 more than that: reading all of them takes
-- more than a millisecond, so few sends do it.
local function cut_keys(keys_max)
  if redis.call('HLEN', sent) <= keys_max + 512 then return end
  local all, ids = redis.call('HGETALL', sent), {}
  for i = 2, #all, 2 do ids[i / 2] = tonumber(string.match(all[i], '^%d+')) end
  local sorted, old = {}, {}
  for i, at in ipairs(ids) do sorted[i] = at end
  table.sort(sorted)
  local lowest = sorted[#sorted - keys_max + 1]
  for i, at in ipairs(ids) do
    if at < lowest then old[#old + 1] = all[2 * i - 1] end
  end
  for i = 1, #old, 500 do redis.call('HDEL', sent, unpack(old, i, math.min(i + 499, #old))) end
end

-- remember stores a retry key.
local function remember(key, id, ms, mark, content, keys_max)
  redis.call('HSET', sent, key, id .. ' ' .. ms .. ' ' .. mark .. ' ' .. content)
  cut_keys(keys_max)
end

-- known looks up a retry key. It returns nil if the key is new, else the refusal if the content differs, or a table
-- with what was remembered. durable: write it again, so that WAIT and WAITAOF on this connection have something to wait
-- for.
local function known(key, content, durable)
  if key == '' then return nil end
  local value = redis.call('HGET', sent, key)
  if not value then return nil end
  local id, ms, mark, before = string.match(value, '^(%d+) (%d+) (%S+) (.*)$')
  if before ~= content then return {refused = {'KEYREUSED'}} end
  if durable then redis.call('HSET', sent, key, value) end
  return {id = id, ms = ms, mark = mark}
end

-- idle_sender finds a sender who has sent nothing for a day, whom a separate step then forgets.
local function idle_sender(senders, now_ms)
  return redis.call('ZRANGEBYSCORE', senders, '-inf', int(now_ms - 86400000), 'LIMIT', 0, 1)[1] or ''
end
