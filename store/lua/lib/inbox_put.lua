-- include: retry.lua
-- include: inbox_wants.lua
-- inbox_put puts an item at the end of an inbox, or gives the first answer again where the retry key is known. The seq of an
-- item is base plus its place in the list. It checks everything before it writes anything.
--
-- k  keys: inbox, base, senders, sent (of the sender; left out where there is no retry key), users (of the partition), and
--    where a.notify is given: wants, reachable, qk (place of those of the core queue)
-- a  from, rest (of the JSON), sent_ms, key and content (of a retry, hashed), system (true for an item of the server),
--    items_max, keys_max, epoch (for a new inbox), channel, user (whose inbox it is),
--    notify (high or low: the user is told while away)
-- Returns {OK, seq, sent_at ms, 1 for a duplicate, a sender to be forgotten or ''}, or a refusal: KEYREUSED, FULL
local function inbox_put(k, a)
  local first_time = known(k.sent, a.key, a.content, false)
  if first_time then return first_time.refused or {'OK', first_time.id, first_time.ms, 1, ''} end
  local base, items = tonumber(redis.call('HGET', k.base, 'base') or 0), redis.call('LLEN', k.inbox)
  if items >= a.items_max and not a.system then return {'FULL'} end
  local now_ms = clock_ms()

  redis.call('HSETNX', k.base, 'epoch', a.epoch)
  redis.call('ZADD', k.users, 0, a.user)
  if items >= a.items_max then
    -- What is dropped is said to the reader: lost is the highest seq that went unread.
    redis.call('LPOP', k.inbox)
    base, items = base + 1, items - 1
    redis.call('HSET', k.base, 'base', int(base), 'lost', int(base))
  end
  local seq = int(base + items + 1)
  redis.call('RPUSH', k.inbox, '{"seq":' .. seq .. ',' .. a.rest)
  local forget = ''
  if a.key ~= '' then
    remember(k.sent, a.key, seq, a.sent_ms, '-', a.content, a.keys_max)
    redis.call('ZADD', k.senders, int(now_ms), a.from)
  end
  if tonumber(seq) % 64 == 0 then forget = idle(k.senders, now_ms) end
  if a.notify ~= '' then inbox_grew(k, a.user, redis.call('HGET', k.base, 'epoch'), seq, a.notify, now_ms) end
  redis.call('PUBLISH', a.channel, 'i')
  return {'OK', seq, a.sent_ms, 0, forget}
end

-- inbox_args binds the keys and arguments that (*Store).inboxArgs makes, which begin at the given places.
local function inbox_args(key, arg)
  return {
    inbox = KEYS[key], base = KEYS[key + 1], senders = KEYS[key + 2], sent = KEYS[key + 3], users = KEYS[key + 4],
    wants = KEYS[key + 5], reachable = KEYS[key + 6], qk = key + 7,
  }, {
    from = ARGV[arg], rest = ARGV[arg + 1], sent_ms = ARGV[arg + 2], key = ARGV[arg + 3], content = ARGV[arg + 4],
    system = ARGV[arg + 5] == '1', items_max = tonumber(ARGV[arg + 6]), keys_max = tonumber(ARGV[arg + 7]),
    epoch = ARGV[arg + 8], channel = ARGV[arg + 9], user = ARGV[arg + 10],
    notify = ARGV[arg + 11],
  }
end
