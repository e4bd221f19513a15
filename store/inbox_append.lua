-- include: retry.lua
-- Puts an item at the end of an inbox. The seq of an item is base plus its place in the list.
--
-- KEYS  1 inbox, 2 inbox:base, 3 inbox:senders, 4 inbox:sent:<from>
-- ARGV  1 from, 2 rest of the JSON, 3 sent_at in ms, 4 retry key, 5 hash of the content, 6 '1' for an item of the
--       server, 7 items at most, 8 retry keys to keep, 9 epoch for a new inbox, 10 channel
-- Returns {OK, seq, sent_at ms, 1 for a duplicate, a sender to be forgotten or ''}
-- Refuses KEYREUSED, FULL
local inbox, base_key, senders, sent = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local from, rest, sent_ms, key, content, system = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6] == '1'
local items_max, keys_max, epoch, channel = tonumber(ARGV[7]), tonumber(ARGV[8]), ARGV[9], ARGV[10]

local first_time = known(sent, key, content, false)
if first_time then return first_time.refused or {'OK', first_time.id, first_time.ms, 1, ''} end
local base, items = tonumber(redis.call('HGET', base_key, 'base') or 0), redis.call('LLEN', inbox)
if items >= items_max and not system then return {'FULL'} end
local now_ms = clock_ms()

redis.call('HSETNX', base_key, 'epoch', epoch)
if items >= items_max then
  -- What is dropped is said to the reader: lost is the highest seq that went unread.
  redis.call('LPOP', inbox)
  base, items = base + 1, items - 1
  redis.call('HSET', base_key, 'base', int(base), 'lost', int(base))
end
local seq = int(base + items + 1)
redis.call('RPUSH', inbox, '{"seq":' .. seq .. ',' .. rest)
local forget = ''
if key ~= '' then
  remember(sent, key, seq, sent_ms, '-', content, keys_max)
  redis.call('ZADD', senders, int(now_ms), from)
end
if tonumber(seq) % 64 == 0 then forget = idle(senders, now_ms) end
redis.call('PUBLISH', channel, 'i')
return {'OK', seq, sent_ms, 0, forget}
