-- Forgets the retry keys of a sender who has put nothing into this inbox for a day.
--
-- KEYS  inbox_senders inbox_sent
-- ARGV  sender
-- Returns {OK}
-- include: base
local at_ms = redis.call('ZSCORE', inbox_senders, sender)
if not at_ms or tonumber(at_ms) > clock_ms() - 86400000 then return {'OK'} end

redis.call('UNLINK', inbox_sent)
redis.call('ZREM', inbox_senders, sender)
return {'OK'}
