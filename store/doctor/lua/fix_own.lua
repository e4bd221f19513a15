-- Removes a user's key in a group that is gone, or one that no list would ever lead to, and adds a sender whose key is still
-- needed to the list of senders again.
--
-- KEYS  meta members senders gone_members gone_senders last_id msgs own
-- ARGV  user at:flag
--   at  own holds mentions: they go with the membership
-- Returns {OK}
-- include: base
if redis.call('EXISTS', meta) == 1 then
  if at then
    if redis.call('HEXISTS', members, user) == 0 then redis.call('UNLINK', own) end
  elseif redis.call('EXISTS', own) == 1 then
    redis.call('ZADD', senders, 'NX', int(tonumber(redis.call('TIME')[1]) * 1000), user)
  end
  return {'OK'}
end
if redis.call('EXISTS', last_id, members, msgs) > 0 then return {'OK'} end
if redis.call('ZSCORE', gone_members, user) or redis.call('ZSCORE', gone_senders, user) then return {'OK'} end
redis.call('UNLINK', own)
return {'OK'}
