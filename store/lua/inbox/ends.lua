-- Reads the highest seq of inboxes. Only reads.
--
-- KEYS  users(inbox inbox_base)...
-- Returns {OK, the highest seq of each}
-- include: base
local out = {'OK'}
for i = users, #KEYS, users_row do
  -- bind: users at i
  out[#out + 1] = int(tonumber(redis.call('HGET', inbox_base, 'base') or 0) + redis.call('LLEN', inbox))
end
return out
