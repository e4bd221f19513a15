-- Replaces entries of the audit that are still there.
--
-- KEYS  audit
-- ARGV  entries(was now)...
-- Returns {OK}
for i = entries, #ARGV, entries_row do
  -- bind: entries at i
  if redis.call('ZREM', audit, was) == 1 then redis.call('ZADD', audit, 0, now) end
end
return {'OK'}
