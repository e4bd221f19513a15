-- include: int.lua
-- A page counts only where its part is still where the page begins: then what it delivers and the new place of the part
-- are written together, so that whoever does a page again, or late, does nothing.

-- announce_at reads a part that is where a page begins; nil: it is elsewhere, done, or stopped.
local function announce_at(part, run, cursor)
  local m = redis.call('HMGET', part, 'run', 'cursor', 'done', 'stopped', 'total', 'delivered', 'failed')
  if m[1] ~= run or m[2] ~= cursor or m[3] == '1' or m[4] then return nil end
  return {total = tonumber(m[5]), delivered = tonumber(m[6]), failed = tonumber(m[7])}
end

-- announce_move writes that a page is done: p as announce_at read it. Users who became known meanwhile are targets too, so
-- in the end the total is what was done.
local function announce_move(part, p, cursor, last, delivered, failed)
  delivered, failed = p.delivered + delivered, p.failed + failed
  local all = delivered + failed
  redis.call('HSET', part, 'cursor', cursor, 'delivered', int(delivered), 'failed', int(failed), 'done', last and '1' or '0',
    'total', int(last and all or math.max(p.total, all)))
end
