-- Removes an ended schedule.
--
-- KEYS  schedule
-- Returns {OK}, also if it does not exist or has not ended
local state = redis.call('HGET', schedule, 'state')
if state and state ~= 'pending' and state ~= 'paused' then redis.call('DEL', schedule) end
return {'OK'}
