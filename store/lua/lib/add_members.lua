-- include: entry
-- needs: meta members joined skip
-- add_members makes users members, with notices of joining that name up to 100 each, all in one call: one by one, a
-- thousand take the server 14 ms. invited has of each notice mark, rest, users and their roles; with history, members
-- start after start. It returns the id of the first notice.
local function add_members(epoch, history, start, at_ms, invited)
  local count = #invited
  local id = tonumber(redis.call('INCRBY', last_id, int(count))) - count
  local entries, skipped, roles, joins, starts, e, n, newest = {}, {}, {}, {}, {}, 0, 0, nil
  for _, one in ipairs(invited) do
    id = id + 1
    local text = int(id)
    newest = entry_text(text, one.mark, 'x', one.rest)
    entries[e + 1], entries[e + 2] = text, newest
    skipped[e + 1], skipped[e + 2] = text, text
    e = e + 2
    -- Without history, a member starts at the notice of joining.
    local from = history == '1' and start or int(id - 1)
    for i, user in ipairs(one.users) do
      roles[n + 1], roles[n + 2] = user, one.roles[i] .. ' ' .. at_ms
      joins[n + 1], joins[n + 2] = text, user
      starts[n + 1], starts[n + 2] = from, user
      n = n + 2
    end
  end
  redis.call('HSET', meta, 'mark', invited[count].mark, 'active_ms', at_ms)
  redis.call('ZADD', msgs, unpack(entries))
  redis.call('ZADD', skip, unpack(skipped))
  redis.call('HSET', members, unpack(roles))
  redis.call('ZADD', joined, unpack(joins))
  redis.call('ZADD', seen, unpack(starts))
  redis.call('ZADD', read, unpack(starts))
  -- Followers see from the last one that others are missing, and read them.
  publish_entry(epoch, newest)
  return id - count + 1
end
