-- needs: profile names
-- drop_words takes a profile out of the index of names.
local function drop_words(user)
  local known = redis.call('HGET', profile, 'words') or ''
  for word in string.gmatch(known, '[^\n]+') do
    redis.call('ZREM', names, word .. '\0' .. user)
  end
end
