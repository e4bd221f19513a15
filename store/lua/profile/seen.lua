-- Notes when users were last seen. Who is not on the list of known users was erased meanwhile.
--
-- KEYS  users last_seen
-- ARGV  noted(user seen_ms)...
--   noted  at most 500
-- Returns {OK}
for i = noted, #ARGV, noted_row do
  -- bind: noted at i
  if redis.call('ZSCORE', users, user) then redis.call('ZADD', last_seen, 'GT', seen_ms, user) end
end
return {'OK'}
