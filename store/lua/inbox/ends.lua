-- Reads the ends of inboxes. Only reads.
--
-- KEYS  users(inbox inbox_base)...
-- Returns {OK, then for each: the highest seq, its mark or -, the epoch or ''}
-- include: base
local out = {'OK'}
for i = users, #KEYS, users_row do
  -- bind: users at i
  local epoch, base, gaps, end_mark = unpack(redis.call('HMGET', inbox_base, 'epoch', 'base', 'gaps', 'end_mark'))
  out[#out + 1] = int(tonumber(base or 0) + redis.call('LLEN', inbox) + tonumber(gaps or 0))
  out[#out + 1] = end_mark or '-'
  out[#out + 1] = epoch or ''
end
return out
