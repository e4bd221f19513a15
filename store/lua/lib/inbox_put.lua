-- include: retry
-- include: inbox_grew
-- include: inbox_room
-- needs: grown users unused to_strangers from rest mark sent_ms key content system items_max inbox_by cause by_max keys_max epoch notify blocks author
-- inbox_count counts that an inbox grew, in the bucket of its user, as inboxBucket does. Nodes find lost signals by that.
local function inbox_count(user)
  local bucket = 0
  for i = 1, #user do bucket = (31 * bucket + string.byte(user, i)) % 251 end
  redis.call('HINCRBY', grown, bucket, 1)
end

-- inbox_put appends an item to an inbox, or repeats the first answer if the retry key is known. It checks everything
-- before it writes anything.
--
-- user     the owner of the inbox
-- channel  of the user
-- inbox, inbox_base, inbox_senders, inbox_server: keys
-- look     true: put nothing in, and answer with seq 0 if there is nothing against it. nil: put it in
--
-- Of the needed names: system is true for an item from the server, epoch is for a new inbox, notify is high or low if
-- the user gets notified while offline, else ''; reachable and core are needed only then, and sent only with a retry
-- key. At most by_max unacked items may be caused by cause, counted by inbox_by; 0: any number. author is on whose account
-- the item comes, whom the user may block, or ''.
--
-- Returns {OK, seq, sent_at ms, 1 for a duplicate, a sender to forget or '', 1 if it was dropped, what a
-- duplicate is a repeat of}, or a refusal:
-- KEYREUSED, FULL, BLOCKS, or STRANGER for a user who has never used the server, without to_strangers. An item from the server
-- for which there is no room is dropped, and its seq is missing from then on. One on account of someone whom the user blocks
-- is dropped and leaves no trace.
local function inbox_put(user, channel, inbox, inbox_base, inbox_senders, inbox_server, look)
  local first_time = known(key, content, false)
  if first_time then return first_time.refused or {'OK', first_time.id, first_time.ms, 1, '', 0, first_time.mark} end
  local has_epoch, base, gaps, acked, blocking = unpack(redis.call('HMGET', inbox_base, 'epoch', 'base', 'gaps', 'acked', 'blocks'))
  base, gaps, acked = tonumber(base or 0), tonumber(gaps or 0), tonumber(acked or 0)
  if blocking and author ~= '' and redis.call('ZSCORE', blocks, author) then
    return system and {'OK', 0, sent_ms, 0, '', 1} or {'BLOCKS'}
  end
  local stored = redis.call('LLEN', inbox)
  local last = base + stored + gaps
  local full = stored >= items_max and stored - inbox_rank(inbox, acked, stored, base, last) >= items_max
  local crowded = by_max > 0 and redis.call('ZCOUNT', inbox_by, '(' .. int(acked), '+inf') >= by_max
  if (full or crowded) and not system then return {'FULL'} end
  if look then return {'OK', '0', '0', 0, '', 0, ''} end
  -- Last, because what is counted against the sender for this is stored.
  if not to_strangers and not system and
    (not redis.call('ZSCORE', users, user) or redis.call('SISMEMBER', unused, user) == 1) then return {'STRANGER'} end
  local now_ms = clock_ms()

  if redis.call('ZADD', users, 0, user) == 1 then redis.call('SADD', unused, user) end
  local fields = {'end_mark', mark}
  if not has_epoch then fields[3], fields[4] = 'epoch', epoch end
  if crowded or full and not inbox_displace(inbox, inbox_base, inbox_server, base, acked, last) then
    if inbox_drop(inbox, inbox_base, gaps, last, fields) then
      inbox_count(user)
      redis.call(PUBLISH, channel, 'i')
    end
    return {'OK', int(last + 1), sent_ms, 0, '', 1}
  end
  redis.call('HSET', inbox_base, unpack(fields))
  local seq = int(last + 1)
  redis.call('RPUSH', inbox, mark .. '{"seq":' .. seq .. ',' .. rest)
  if system then inbox_index(inbox_server, seq, acked) end
  if by_max > 0 then
    redis.call('ZREMRANGEBYSCORE', inbox_by, '-inf', int(acked))
    redis.call('ZADD', inbox_by, seq, seq)
    redis.call('ZADD', inbox_senders, int(now_ms), cause)
  end
  if key ~= '' then
    remember(key, seq, sent_ms, '-', content, keys_max)
    redis.call('ZADD', inbox_senders, int(now_ms), from)
  end
  local forget = idle_sender(inbox_senders, now_ms)
  if notify ~= '' then inbox_grew(user, has_epoch or epoch, seq, notify, now_ms) end
  inbox_count(user)
  redis.call(PUBLISH, channel, 'i')
  return {'OK', seq, sent_ms, 0, forget, 0}
end
