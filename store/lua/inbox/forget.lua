-- include: int.lua
-- Forgets the retry keys of a sender who has put nothing into this inbox for a day.
--
-- KEYS  1 inbox:senders, 2 inbox:sent:<sender>
-- ARGV  1 sender
-- Returns {OK}
local senders, sent, sender = KEYS[1], KEYS[2], ARGV[1]

local at = redis.call('ZSCORE', senders, sender)
if not at or tonumber(at) > clock_ms() - 86400000 then return {'OK'} end

redis.call('UNLINK', sent)
redis.call('ZREM', senders, sender)
return {'OK'}
