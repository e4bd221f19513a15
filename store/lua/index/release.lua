-- Forgets that someone added the user to groups.
--
-- KEYS  added
-- ARGV  by groups...
--   by      names who did: what others did stays
--   groups  at most 500
-- Returns {OK}
-- include: added_free
for i = groups, #ARGV do
  if string.match(redis.call('HGET', added, ARGV[i]) or '', '^%S+') == by then free_added(ARGV[i]) end
end
return {'OK'}
