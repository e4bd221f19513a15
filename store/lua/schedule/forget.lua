-- Removes a schedule that has ended.
--
-- KEYS  1 schedule
-- Returns {OK}, also where it is not there or has not ended
local key = KEYS[1]

local state = redis.call('HGET', key, 'state')
if state and state ~= 'pending' and state ~= 'paused' then redis.call('DEL', key) end
return {'OK'}
