-- Compares where the log of a group begins with what may be trimmed. Only reads.
--
-- KEYS  last_id meta seen msgs wants unique leased
-- ARGV  group
-- Returns {OK, messages stored, how many must be, how many nobody needs, the slowest member who holds back trimming ('' if
--       there is none) and their seen, the id before the first message, 1 if a trim may be under way, the highest id that was
--       too old}
-- include: base
local keep, backlog_max, events, expired, overflow =
  unpack(redis.call('HMGET', meta, 'keep', 'backlog_max', 'events', 'expired', 'overflow'))
if not keep then return {'OK', 0, 0, 0, '', 0, 0, 0, 0} end
local last, stored = tonumber(redis.call('GET', last_id) or 0), redis.call('ZCARD', msgs)
local before, waited = last - stored, last - tonumber(backlog_max)

local slowest = redis.call('ZRANGEBYSCORE', seen, overflow == 'block' and '-inf' or int(waited), '+inf', 'WITHSCORES',
  'LIMIT', 0, 2)
local at = slowest[1] == '$archive' and 3 or 1
local user, position = slowest[at] or '', tonumber(slowest[at + 1] or waited)
local cut = math.min(last - tonumber(keep), position)
local archived = redis.call('ZSCORE', seen, '$archive')
if archived then cut = math.min(cut, tonumber(archived)) end
local generation, published = string.match(events or '', '^(%d+) (%d+)$')
if generation and generation == string.match(redis.call('HGET', wants, 'events') or '', '^%d+') then
  cut = math.min(cut, math.max(tonumber(published), waited))
end
local trimming = redis.call('HEXISTS', unique, 'trim:' .. group) + redis.call('ZCARD', leased)
return {'OK', stored, int(math.min(last, tonumber(keep))), int(math.max(cut - before, 0)), user, int(position), int(before),
  math.min(trimming, 1), int(tonumber(expired or 0))}
