-- include: base
-- include: webhook_position
-- needs: meta seen msgs reactions reacted wants
-- trim_log removes messages that no reader needs any longer, at most 500, and returns whether there are more.
--
-- last         highest id of the log
-- stored       how many messages are stored; ids are dense, so the lowest one follows, and no range is read to find it
-- keep         how many of the newest stay, seen or not
-- backlog_max  how far behind a reader may be and still hold back trimming; webhooks hold it back like a member.
--              The archive always does: entries that it does not have stay, even if it has not joined yet, or was switched
--              off and has not left yet
--
-- The mark of the newest removed entry stays in meta as `trimmed`: a cursor may stand right there, which loses nothing but
-- still has to be compared.
-- There is also more if counts of reactions are left, which only log/trim.lua removes if no message is due.
local function trim_log(last, stored, keep, backlog_max)
  local first = last - stored + 1
  local cut = last - keep
  if cut < first then return false end

  local slowest = redis.call('ZRANGEBYSCORE', seen, int(last - backlog_max), '+inf', 'WITHSCORES', 'LIMIT', 0, 2)
  -- If every member is too far behind to hold back trimming, the newest backlog_max messages still stay.
  local at = slowest[slowest[1] == '$archive' and 4 or 2]
  cut = math.min(cut, at and tonumber(at) or last - backlog_max)
  local archived = redis.call('ZSCORE', seen, '$archive')
  if archived then
    cut = math.min(cut, tonumber(archived))
  elseif redis.call('HEXISTS', wants, 'archive') == 1 then
    return false
  end
  local _, evented, behind = webhook_position()
  for at in string.gmatch(behind, ' [^: ]+:%d+:(%d+)') do evented = math.min(evented, tonumber(at)) end
  if evented then cut = math.min(cut, math.max(evented, last - backlog_max)) end
  if cut < first then return false end

  local more = cut - first >= 500
  if more then cut = first + 499 end
  local edge = redis.call('ZRANGEBYSCORE', msgs, int(cut), int(cut))[1]
  local trimmed = edge and string.match(edge, '^%d+ %S+')
  if trimmed then redis.call('HSET', meta, 'trimmed', trimmed) end
  redis.call('ZREMRANGEBYSCORE', msgs, '-inf', int(cut))
  redis.call('ZREMRANGEBYSCORE', reacted, '-inf', int(cut))
  -- A message has up to 20 counts; those beyond the bound of a step go with the next one, and nobody reads them before.
  local counts = redis.call('ZCOUNT', reactions, '-inf', int(cut))
  if counts > 0 then redis.call('ZREMRANGEBYRANK', reactions, 0, int(math.min(counts, 500) - 1)) end
  return more or counts > 500
end
