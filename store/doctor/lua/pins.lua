-- Compares the pins of a group with the messages that are pinned, and with those of its log. Only reads.
--
-- KEYS  meta msgs pins pinned
-- ARGV  key
--   key  pins or pinned: what is examined. Of both, pins stands for them
-- Returns {OK, the id of a message and what is wrong with it, ... (lost: only one of the two has it; stale: it reads otherwise in the log;
--       unknown: the settings do not say that anything is pinned)}
local out = {'OK'}
if key == 'pinned' and redis.call('EXISTS', pins) == 1 then return out end
local ids = {}
for _, hash in ipairs({pins, pinned}) do
  for _, id in ipairs(redis.call('HKEYS', hash)) do ids[id] = (ids[id] or 0) + 1 end
end
local known = redis.call('HEXISTS', meta, 'pinned') == 1
for id, times in pairs(ids) do
  local stored = redis.call('ZRANGEBYSCORE', msgs, id, id)[1]
  local wrong = times < 2 and 'lost' or stored and stored ~= redis.call('HGET', pinned, id) and 'stale' or not known and 'unknown'
  if wrong then out[#out + 1], out[#out + 2] = id, wrong end
end
return out
