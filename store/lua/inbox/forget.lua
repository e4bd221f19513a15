-- Forgets a sender who has put nothing into this inbox for a day: the retry keys, and the seqs of their items once
-- those are acked.
--
-- KEYS  inbox_base inbox_senders inbox_sent inbox_by inbox_mentions
-- ARGV  sender
-- Returns {OK}
-- include: base
local at_ms, now_ms = redis.call('ZSCORE', inbox_senders, sender), clock_ms()
if not at_ms or tonumber(at_ms) > now_ms - 86400000 then return {'OK'} end
local above = '(' .. (redis.call('HGET', inbox_base, 'acked') or '0')
local waiting = redis.call('ZCOUNT', inbox_by, above, '+inf') + redis.call('ZCOUNT', inbox_mentions, above, '+inf')

redis.call('UNLINK', inbox_sent)
if waiting > 0 then
  redis.call('ZADD', inbox_senders, int(now_ms), sender) -- check again in a day
  return {'OK'}
end
redis.call('UNLINK', inbox_by, inbox_mentions)
redis.call('ZREM', inbox_senders, sender)
return {'OK'}
