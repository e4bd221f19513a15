-- include: entry
-- needs: meta members joined skip
-- add_members makes users members, each with a notice of joining, all in one call: one by one, a thousand take the
-- server 14 ms. invited is user, mark and rest of the notice, for each. It returns the id of the first notice.
local function add_members(epoch, history, role, at_ms, invited)
  local count = #invited / 3
  local id = tonumber(redis.call('INCRBY', last_id, int(count))) - count
  local entries, skipped, roles, joins, starts, n, newest = {}, {}, {}, {}, {}, 0, nil
  for i = 1, #invited, 3 do
    local user = invited[i]
    id = id + 1
    local text = int(id)
    newest = entry_text(text, invited[i + 1], 'x', invited[i + 2])
    entries[n + 1], entries[n + 2] = text, newest
    skipped[n + 1], skipped[n + 2] = text, text
    roles[n + 1], roles[n + 2] = user, role .. ' ' .. at_ms
    joins[n + 1], joins[n + 2] = text, user
    -- Without history, a member starts at the notice of joining.
    starts[n + 1], starts[n + 2] = history == '1' and '0' or int(id - 1), user
    n = n + 2
  end
  redis.call('HSET', meta, 'mark', invited[#invited - 1], 'active_ms', at_ms)
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
