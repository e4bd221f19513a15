-- include: base
-- needs: part run cursor next_cursor last_page
-- A page counts only if its part is still where the page begins: what it delivers and the new cursor of the part are
-- written together, so repeating a page, or running it late, does nothing.

-- announce_at reads a part that is where the page begins; nil: it is elsewhere, done, or stopped.
local function announce_at()
  local has_run, has_cursor, done, stopped, total, delivered, failed =
    unpack(redis.call('HMGET', part, 'run', 'cursor', 'done', 'stopped', 'total', 'delivered', 'failed'))
  if has_run ~= run or has_cursor ~= cursor or done == '1' or stopped then return nil end
  return {total = tonumber(total), delivered = tonumber(delivered), failed = tonumber(failed)}
end

-- announce_move records that a page is done: p is the result of announce_at. Users who became known meanwhile are
-- targets too, so the final total is what was done.
local function announce_move(p, delivered, failed)
  delivered, failed = p.delivered + delivered, p.failed + failed
  local all = delivered + failed
  redis.call('HSET', part, 'cursor', next_cursor, 'delivered', int(delivered), 'failed', int(failed), 'done',
    last_page and '1' or '0', 'total', int(last_page and all or math.max(p.total, all)))
end
