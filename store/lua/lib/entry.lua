-- include: int.lua
-- write_entry puts an entry at the end of a log and returns its id (as text) and the stored message. flag is `-` for a
-- message that may be edited, `x` for everything else. Nothing before it may have been written (see RELIABILITY L12),
-- and nothing after it may fail.
local function write_entry(id_key, msgs, mark, flag, rest)
  local id = int(redis.call('INCR', id_key))
  local member = id .. ' ' .. mark .. ' ' .. flag .. ' {"id":' .. id .. ',' .. rest
  redis.call('ZADD', msgs, id, member)
  return id, member
end

-- advance moves the cursors of whoever caused entry id along with it, if they were at the end.
local function advance(seen, read, user, id)
  local before = tonumber(id) - 1
  local s = redis.call('ZSCORE', seen, user)
  if s and tonumber(s) == before then
    redis.call('ZADD', seen, 'XX', 'GT', id, user)
    local r = redis.call('ZSCORE', read, user)
    if r and tonumber(r) == before then redis.call('ZADD', read, 'XX', 'GT', id, user) end
  end
end

-- tell publishes an entry, with the originals that it changed, to whoever follows the group.
local function tell(channel, epoch, member, changed)
  local payload = 'm ' .. epoch .. '\n' .. member
  if changed then
    for _, c in ipairs(changed) do payload = payload .. '\n' .. c end
  end
  redis.call('PUBLISH', channel, payload)
end

-- notice writes an entry of the server. meta keeps the mark of the newest entry.
local function notice(k, channel, epoch, mark, rest, at_ms)
  local id, member = write_entry(k.id, k.msgs, mark, 'x', rest)
  redis.call('ZADD', k.skip, id, id)
  redis.call('HSET', k.meta, 'mark', mark, 'active_ms', at_ms)
  tell(channel, epoch, member)
  return id
end
