-- Removes a list of targets whose announcement is gone or has ended.
--
-- KEYS  announcement own
-- Returns {OK}
local state, closed = unpack(redis.call('HMGET', announcement, 'state', 'closed'))
if not state or closed == '1' and (state == 'done' or state == 'cancelled') then redis.call('UNLINK', own) end
return {'OK'}
