-- Removes a schedule that has ended.
--
-- KEYS  schedule
-- Returns {OK}, also where it is not there or has not ended
local state = redis.call('HGET', schedule, 'state')
if state and state ~= 'pending' and state ~= 'paused' then redis.call('DEL', schedule) end
return {'OK'}
