-- Compares the words by which a user is found with the index of names. Only reads.
--
-- KEYS  profile names
-- ARGV  user
-- Returns {OK, words that the index lacks}
local out = {'OK', {}}
for word in string.gmatch(redis.call('HGET', profile, 'words') or '', '[^\n]+') do
  if not redis.call('ZSCORE', names, word .. '\0' .. user) then out[2][#out[2] + 1] = word end
end
return out
