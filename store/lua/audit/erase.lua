-- Replaces entries of the audit that are still there.
--
-- KEYS  list
-- ARGV  entries(was now)...
-- Returns {OK}
for i = entries, #ARGV, entries_row do
  -- bind: entries at i
  if redis.call('ZREM', list, was) == 1 then redis.call('ZADD', list, 0, now) end
end
return {'OK'}
