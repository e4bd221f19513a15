-- Ends the legal hold on a group, if there is one.
--
-- KEYS  meta
-- Returns {OK, 1 if there was one}
-- Refuses NOTFOUND
if redis.call('EXISTS', meta) == 0 then return {'NOTFOUND'} end

return {'OK', redis.call('HDEL', meta, 'hold', 'hold_by', 'hold_ms') > 0 and 1 or 0}
