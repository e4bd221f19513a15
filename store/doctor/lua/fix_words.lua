-- Puts a user into the index of names by every word of the profile, and takes out one that is none of them.
--
-- KEYS  profile names
-- ARGV  user word
--   word  '': none
-- Returns {OK}
local stale = word ~= ''
for one in string.gmatch(redis.call('HGET', profile, 'words') or '', '[^\n]+') do
  redis.call('ZADD', names, 0, one .. '\0' .. user)
  stale = stale and one ~= word
end
if stale then redis.call('ZREM', names, word .. '\0' .. user) end
return {'OK'}
