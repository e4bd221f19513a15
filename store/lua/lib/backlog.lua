-- include: base
-- include: blockers
-- needs: last_id meta seen msgs files_named
-- backlog returns what a group keeps beyond what it always keeps, as directory/backlogs.lua lists it, with max members.
local function backlog(max)
  local epoch, keep, backlog_max, overflow, named_bytes =
    unpack(redis.call('HMGET', meta, 'epoch', 'keep', 'backlog_max', 'overflow', 'named_bytes'))
  if not epoch then return {} end
  local last, total = tonumber(redis.call('GET', last_id)), tonumber(named_bytes or 0)
  local waits_for, low = behind_from(last, tonumber(keep), tonumber(backlog_max), overflow)
  -- What is due to be trimmed, but has not been yet, waits for nobody: it is below the slowest.
  local first = redis.call('ZRANGE', msgs, 0, 0, 'WITHSCORES')[2]
  local held, slowest = 0, first and lowest_seen(low)
  if slowest then
    slowest = math.max(tonumber(slowest), tonumber(first) - 1)
    held = math.max(0, last - tonumber(keep) - slowest)
  end
  local row = {int(held), held > 0 and redis.call('ZRANGEBYSCORE', msgs, int(slowest + 1), int(slowest + 1))[1] or ''}
  local found = max == 0 and {} or blockers(last, total, low, '', max, waits_for)
  for i = 1, #found, 3 do
    local n, id = #row, int(last - tonumber(found[i + 1]) + 1)
    row[n + 1], row[n + 2], row[n + 3] = found[i], found[i + 1], found[i + 2]
    row[n + 4] = redis.call('ZRANGEBYSCORE', msgs, id, id)[1] or ''
  end
  return row
end
