-- Replaces the lists of words of a group: an owner, an admin or an operator does.
--
-- KEYS  meta members
-- ARGV  caller operator:flag words
--   words  '': it has none
-- Returns {OK}
-- Refuses NOTFOUND, FORBIDDEN
-- include: manage
local epoch, visibility = unpack(redis.call('HMGET', meta, 'epoch', 'visibility'))
if not epoch then return {'NOTFOUND'} end
local refused = may_manage(visibility, caller, operator)
if refused then return refused end
if words == '' then
  redis.call('HDEL', meta, 'words')
else
  redis.call('HSET', meta, 'words', words)
end
return {'OK'}
