-- Removes what was kept because of a legal hold that has ended.
--
-- KEYS  meta kept
-- Returns {OK}
if redis.call('HEXISTS', meta, 'hold') == 0 then redis.call('UNLINK', kept) end
return {'OK'}
