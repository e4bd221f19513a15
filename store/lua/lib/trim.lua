-- include: int.lua
-- include: events_position.lua
-- trim_step removes what no reader needs any longer, at most 500 messages, and tells whether there is more.
--
-- k            keys: seen, msgs, reactions, reacted, meta, wants
-- last         highest id of the log
-- keep         how many of the newest stay whatever was seen
-- backlog_max  how far a reader may be behind and still be waited for; $archive is waited for always, the events for
--              webhooks are waited for as a member is
--
-- More is said also where counts of reactions are left, which only trim_group removes when no message is due.
--
-- Ids are dense, so the lowest one follows from the count: no range is read to find it.
local function trim_step(k, last, keep, backlog_max)
  local first = last - redis.call('ZCARD', k.msgs) + 1
  local cut = last - keep
  if cut < first then return false end

  local slowest = redis.call('ZRANGEBYSCORE', k.seen, int(last - backlog_max), '+inf', 'WITHSCORES', 'LIMIT', 0, 2)
  -- Where every member is too far behind to be waited for, what they would be waited for stays all the same.
  local at = slowest[slowest[1] == '$archive' and 4 or 2]
  cut = math.min(cut, at and tonumber(at) or last - backlog_max)
  local archived = redis.call('ZSCORE', k.seen, '$archive')
  if archived then cut = math.min(cut, tonumber(archived)) end
  local _, told = events_position(k)
  if told then cut = math.min(cut, math.max(told, last - backlog_max)) end
  if cut < first then return false end

  local more = cut - first >= 500
  if more then cut = first + 499 end
  redis.call('ZREMRANGEBYSCORE', k.msgs, '-inf', int(cut))
  redis.call('ZREMRANGEBYSCORE', k.reacted, '-inf', int(cut))
  -- A message has up to 20 counts; what is over the bound of a step goes with the next one, nobody reads it before.
  local counts = redis.call('ZCOUNT', k.reactions, '-inf', int(cut))
  if counts > 0 then redis.call('ZREMRANGEBYRANK', k.reactions, 0, int(math.min(counts, 500) - 1)) end
  return more or counts > 500
end

-- prune drops ids at or below floor from a set that is only counted above it, at most 500.
local function prune(set, floor)
  if floor < 1 then return end
  local old = redis.call('ZCOUNT', set, '-inf', int(floor))
  if old > 0 then redis.call('ZREMRANGEBYRANK', set, 0, int(math.min(old, 500) - 1)) end
end

-- sweep is for every entry whatever its kind: each 64th trims and prunes. Without this a group whose members all sleep
-- would grow for ever. Tells whether there is more to trim.
local function sweep(k, last, keep, backlog_max)
  if last % 64 ~= 0 then return false end
  prune(k.skip, last - backlog_max)
  return trim_step(k, last, keep, backlog_max)
end
