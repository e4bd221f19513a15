-- include: trim.lua
-- Forgets a sender who has sent nothing for a day: the retry keys, and the own ids where none is counted any longer.
--
-- KEYS  1 id, 2 meta, 3 senders, 4 sent:<user>, 5 by:<user>
-- ARGV  1 user
-- Returns {OK}
local id_key, meta, senders, sent, by = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local user = ARGV[1]

local at = redis.call('ZSCORE', senders, user)
local backlog_max = redis.call('HGET', meta, 'backlog_max')
local now_ms = clock_ms()
if not at or not backlog_max or tonumber(at) > now_ms - 86400000 then return {'OK'} end

local floor = tonumber(redis.call('GET', id_key)) - tonumber(backlog_max)
redis.call('UNLINK', sent)
prune(by, floor)
if redis.call('ZCARD', by) == 0 then
  redis.call('ZREM', senders, user)
elseif redis.call('ZCOUNT', by, '-inf', int(floor)) == 0 then
  -- Own ids that are still counted: look again in a day.
  redis.call('ZADD', senders, int(now_ms), user)
end
return {'OK'}
