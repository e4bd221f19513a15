-- include: base
-- needs: last_id msgs seen read channel
-- entry_text returns an entry as it is stored; id is text too.
local function entry_text(id, mark, edits, rest)
  return id .. ' ' .. mark .. ' ' .. edits .. ' {"id":' .. id .. ',' .. rest
end

-- write_entry appends an entry to a log and returns its id (as text) and the stored message. edits is `-` for a message
-- that may be edited, `x` for everything else. Nothing may have been written before it, because Redis checks its
-- memory only before the first write of a script, and nothing after it may fail.
local function write_entry(mark, edits, rest)
  local id = int(redis.call('INCR', last_id))
  local member = entry_text(id, mark, edits, rest)
  redis.call('ZADD', msgs, id, member)
  return id, member
end

-- advance moves the cursors of the user who caused entry id along with it, if they were at the end.
local function advance(user, id)
  local before = tonumber(id) - 1
  local s = redis.call('ZSCORE', seen, user)
  if s and tonumber(s) == before then
    redis.call('ZADD', seen, 'XX', 'GT', id, user)
    local r = redis.call('ZSCORE', read, user)
    if r and tonumber(r) == before then redis.call('ZADD', read, 'XX', 'GT', id, user) end
  end
end

-- publish_entry publishes an entry, with the originals that it changed, to the group's followers.
local function publish_entry(epoch, member, changed)
  local payload = 'm ' .. epoch .. '\n' .. member
  if changed then payload = payload .. '\n' .. table.concat(changed, '\n') end
  redis.call(PUBLISH, channel, payload)
end
