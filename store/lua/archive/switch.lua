-- Records which database the store is archived into, or that it no longer is.
--
-- KEYS  archive
-- ARGV  id on:flag
--   id  of the database; ignored if the archive is switched off
-- Returns {OK}
-- Refuses CONFLICT (it is archived into another one)
local has_id, has_on = unpack(redis.call('HMGET', archive, 'id', 'on'))
if on then
  if has_on == '1' and has_id ~= id then return {'CONFLICT'} end
  if has_on ~= '1' then redis.call('HSET', archive, 'id', id, 'on', '1', 'walked', '0') end
elseif has_on == '1' then
  redis.call('HSET', archive, 'on', '0', 'walked', '0')
end
return {'OK'}
