-- Reads where inboxes end, and their newest items if these are few and short, which is usually all that a session needs. Only
-- reads.
--
-- KEYS  users(inbox inbox_base)...
-- ARGV  items_max:int bytes_max:int
--   items_max  the newest items to read of each; 1 or more
--   bytes_max  of the items of one inbox
-- Returns {OK, then for each: the highest seq, its mark or -, the epoch or '', base, its mark or nil, acked or nil, the newest
--         items (none where they are too long)}
-- include: base
local out = {'OK'}
for i = users, #KEYS, users_row do
  -- bind: users at i
  local epoch, base, gaps, end_mark, base_mark, acked =
    unpack(redis.call('HMGET', inbox_base, 'epoch', 'base', 'gaps', 'end_mark', 'base_mark', 'acked'))
  local items = redis.call('LRANGE', inbox, -items_max, -1)
  local stored, bytes = #items, 0
  if stored == items_max then stored = redis.call('LLEN', inbox) end
  for j = 1, #items do bytes = bytes + #items[j] end
  local n = #out
  out[n + 1] = int(tonumber(base or 0) + stored + tonumber(gaps or 0))
  out[n + 2], out[n + 3], out[n + 4], out[n + 5], out[n + 6] = end_mark or '-', epoch or '', base or '0', base_mark, acked
  out[n + 7] = bytes <= bytes_max and items or {}
end
return out
