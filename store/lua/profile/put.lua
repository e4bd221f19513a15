-- Writes the profile of a user in the place of the one that was read, with the words by which it is found and the avatar that its
-- picture names: there is an avatar exactly as long as that. Versions are times where they can be, so that a store that was rolled back
-- never gives a lost version again.
--
-- KEYS  profile names users unused avatar avatars hidden live nodes present
-- ARGV  user revision text with_settings:flag settings avatar_id avatar_type avatar_content hides:flag channel words...
--   revision        version of the profile that was read; 0: there was none
--   settings        '': none
--   avatar_id       '': none
--   avatar_content  '': it is kept already
--   words           at most 100
-- Returns {OK, version}
-- Refuses CONFLICT
-- include: base
-- include: profile_words
-- include: avatar
-- include: hide
local current = redis.call('HGET', profile, 'version') or '0'
if current ~= revision then return {'CONFLICT'} end
local version = math.max(clock_ms(), tonumber(current) + 1)

drop_words(user)
local found = {}
for i = words, #ARGV do
  found[#found + 1] = ARGV[i]
  redis.call('ZADD', names, 0, ARGV[i] .. '\0' .. user)
end
redis.call('HSET', profile, 'version', int(version), 'text', text, 'words', table.concat(found, '\n'))
if with_settings then
  redis.call('HDEL', profile, 'settings')
  if settings ~= '' then redis.call('HSET', profile, 'settings', settings) end
end
drop_avatar(avatar_id)
if avatar_content ~= '' then
  redis.call('HSET', avatar, 'id', avatar_id, 'type', avatar_type, 'content', avatar_content)
  redis.call('HSET', avatars, avatar_id, user)
end
hide(user, hides)
if redis.call('ZADD', users, 0, user) == 1 then redis.call('SADD', unused, user) end
return {'OK', int(version)}
