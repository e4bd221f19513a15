-- include: entry
-- needs: meta skip
-- notice writes an entry from the server. meta keeps the mark of the newest entry.
local function notice(epoch, mark, rest, at_ms)
  local id, member = write_entry(mark, 'x', rest)
  redis.call('ZADD', skip, id, id)
  redis.call('HSET', meta, 'mark', mark, 'active_ms', at_ms)
  publish_entry(epoch, member)
  return id
end
