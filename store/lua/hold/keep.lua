-- Keeps how entries read before changes that the archive is about to apply, if a legal hold is on the group.
--
-- KEYS  meta kept
-- ARGV  epoch earlier(entry_id change_id was)...
-- Returns {OK}
-- include: keep_held
local has_epoch, hold = unpack(redis.call('HMGET', meta, 'epoch', 'hold'))
if has_epoch ~= epoch or not hold then return {'OK'} end
for i = earlier, #ARGV, earlier_row do
  -- bind: earlier at i
  keep_held(entry_id, change_id, was)
end
return {'OK'}
