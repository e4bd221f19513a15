-- include: retry
-- include: inbox_grew
-- needs: users from rest sent_ms key content system items_max keys_max epoch notify
-- inbox_put puts an item at the end of an inbox, or answers as the first time where the retry key is known. The seq of an
-- item is base plus its position in the list. It checks everything before it writes anything.
--
-- user     whose inbox it is
-- channel  of the user
-- inbox, inbox_base, inbox_senders: keys
--
-- Of what is needed: system is true for an item of the server, epoch is for a new inbox, notify is high or low where the user is
-- notified while away, else ''; reachable and core are needed then only, and sent where there is a retry key.
--
-- Returns {OK, seq, sent_at ms, 1 for a duplicate, a sender to be forgotten or ''}, or a refusal: KEYREUSED, FULL
local function inbox_put(user, channel, inbox, inbox_base, inbox_senders)
  local first_time = known(key, content, false)
  if first_time then return first_time.refused or {'OK', first_time.id, first_time.ms, 1, ''} end
  local base, items = tonumber(redis.call('HGET', inbox_base, 'base') or 0), redis.call('LLEN', inbox)
  if items >= items_max and not system then return {'FULL'} end
  local now_ms = clock_ms()

  redis.call('HSETNX', inbox_base, 'epoch', epoch)
  redis.call('ZADD', users, 0, user)
  if items >= items_max then
    -- The reader hears of what is dropped: lost is the highest seq that went unread.
    redis.call('LPOP', inbox)
    base, items = base + 1, items - 1
    redis.call('HSET', inbox_base, 'base', int(base), 'lost', int(base))
  end
  local seq = int(base + items + 1)
  redis.call('RPUSH', inbox, '{"seq":' .. seq .. ',' .. rest)
  local forget = ''
  if key ~= '' then
    remember(key, seq, sent_ms, '-', content, keys_max)
    redis.call('ZADD', inbox_senders, int(now_ms), from)
  end
  if tonumber(seq) % 64 == 0 then forget = idle_sender(inbox_senders, now_ms) end
  if notify ~= '' then inbox_grew(user, redis.call('HGET', inbox_base, 'epoch'), seq, notify, now_ms) end
  redis.call('PUBLISH', channel, 'i')
  return {'OK', seq, sent_ms, 0, forget}
end
