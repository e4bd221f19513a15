-- include: base
-- include: webhook_position
-- needs: meta seen msgs reactions reacted wants
-- archived_up_to lowers cut to what the archive allows: entries that it does not have stay, even if it has not joined yet, or was
-- switched off and has not left yet.
local function archived_up_to(cut)
  local archived = redis.call('ZSCORE', seen, '$archive')
  if archived then return math.min(cut, tonumber(archived)) end
  return redis.call('HEXISTS', wants, 'archive') == 1 and 0 or cut
end

-- cut_log removes the messages first..cut, at most 500 of them, and returns whether there are more. The mark of the newest one
-- stays in meta as `trimmed`: a cursor may be right there, which loses nothing but still has to be compared.
local function cut_log(first, cut)
  if cut < first then return false end
  local more = cut - first >= 500
  if more then cut = first + 499 end
  local edge = redis.call('ZRANGEBYSCORE', msgs, int(cut), int(cut))[1]
  local trimmed = edge and string.match(edge, '^%d+ %S+')
  if trimmed then redis.call('HSET', meta, 'trimmed', trimmed) end
  redis.call('ZREMRANGEBYSCORE', msgs, '-inf', int(cut))
  redis.call('ZREMRANGEBYSCORE', reacted, '-inf', int(cut))
  -- A message has up to 20 counts; the excess over the bound of a step goes with the next one; nobody reads it before.
  local counts = redis.call('ZCOUNT', reactions, '-inf', int(cut))
  if counts > 0 then redis.call('ZREMRANGEBYRANK', reactions, 0, int(math.min(counts, 500) - 1)) end
  return more or counts > 500
end

-- trim_expired removes the messages up to id, even if members have not seen them, at most 500 of them, and returns whether there is more.
local function trim_expired(last, stored, id)
  return cut_log(last - stored + 1, archived_up_to(id))
end

-- trim_log removes messages that no reader needs any longer, at most 500, and returns whether there are more.
--
-- last         highest id of the log
-- stored       how many messages are stored; ids are dense, so the lowest one follows, and no range is read to find it
-- keep         how many of the newest stay, seen or not
-- backlog_max  how far behind a reader may be and still hold back trimming, in a group that does not block; webhooks hold it
--              back like a member, and are passed by in any group
--
-- There is also more if counts of reactions are left, which only log/trim.lua removes if no message is due.
local function trim_log(last, stored, keep, backlog_max)
  local first = last - stored + 1
  local cut = last - keep
  if cut < first then return false end

  local slowest = redis.call('ZRANGE', seen, 0, 1, 'WITHSCORES')
  local at = slowest[slowest[1] == '$archive' and 4 or 2]
  -- Members who are too far behind are passed by, unless the group blocks instead.
  if at and tonumber(at) < last - backlog_max and redis.call('HGET', meta, 'overflow') ~= 'block' then
    slowest = redis.call('ZRANGEBYSCORE', seen, int(last - backlog_max), '+inf', 'WITHSCORES', 'LIMIT', 0, 2)
    at = slowest[slowest[1] == '$archive' and 4 or 2]
  end
  -- If every member is too far behind to hold back trimming, the newest backlog_max messages still stay.
  cut = math.min(cut, at and tonumber(at) or last - backlog_max)
  local _, evented, behind = webhook_position()
  for at in string.gmatch(behind, ' [^: ]+:%d+:(%d+)') do evented = math.min(evented, tonumber(at)) end
  if evented then cut = math.min(cut, math.max(evented, last - backlog_max)) end
  return cut_log(first, archived_up_to(cut))
end
