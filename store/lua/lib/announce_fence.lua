-- include: base
-- needs: part run cursor next_cursor last_page
-- A page counts only where its part is still where the page begins: then what it delivers and the new cursor of the part
-- are written together, so that whoever does a page again, or late, does nothing.

-- announce_at reads a part that is where a page begins; nil: it is elsewhere, done, or stopped.
local function announce_at()
  local has_run, has_cursor, done, stopped, total, delivered, failed =
    unpack(redis.call('HMGET', part, 'run', 'cursor', 'done', 'stopped', 'total', 'delivered', 'failed'))
  if has_run ~= run or has_cursor ~= cursor or done == '1' or stopped then return nil end
  return {total = tonumber(total), delivered = tonumber(delivered), failed = tonumber(failed)}
end

-- announce_move writes that a page is done: p as announce_at read it. Users who became known meanwhile are targets too, so
-- in the end the total is what was done.
local function announce_move(p, delivered, failed)
  delivered, failed = p.delivered + delivered, p.failed + failed
  local all = delivered + failed
  redis.call('HSET', part, 'cursor', next_cursor, 'delivered', int(delivered), 'failed', int(failed), 'done',
    last_page and '1' or '0', 'total', int(last_page and all or math.max(p.total, all)))
end
