-- include: entry.lua
-- include: trim.lua
-- include: retry.lua
-- include: wants.lua
-- append_entry appends an entry, or gives the first answer again where the retry key is known. It checks everything
-- before it writes anything.
--
-- k  keys: id, meta, members, msgs, seen, read, skip, senders, sent (of the sender), by (of the sender), reactions,
--    reacted, joined, wants, qk (place of those of the core queue; they may be left out where nobody is mentioned), at (an array:
--    at:<user> of each of a.mentions)
-- a  from, kind, mark, rest (of the JSON), sent_ms, key and content (of a retry, hashed), reply_to, target, emoji,
--    removed, durable, channel, keys_max, emojis_max, group, task_id (for those who are mentioned), mentions;
--    anyone: true where the sender need not be a member
-- Returns {OK, id, epoch, mark, sent_at ms, 1 for a duplicate, the stored message (duplicate reaction only), a sender
--       to be forgotten or '', 1 where there is more to trim}, or a refusal: NOTFOUND, FORBIDDEN, KEYREUSED, OUTOFRANGE,
--       EMOJIS; WANTS where the keys of the queue were left out and are needed
local function append_entry(k, a)
  local m = redis.call('HMGET', k.meta, 'epoch', 'visibility', 'post', 'backlog_max', 'keep', 'history')
  local epoch = m[1]
  if not epoch then return {'NOTFOUND'} end
  local from, kind, mark, sent_ms = a.from, a.kind, a.mark, a.sent_ms
  local role = redis.call('HGET', k.members, from)
  if not role and not a.anyone then return {m[2] == 'public' and 'FORBIDDEN' or 'NOTFOUND'} end

  local first_time = known(k.sent, a.key, a.content, a.durable)
  if first_time then
    return first_time.refused or {'OK', first_time.id, epoch, first_time.mark, first_time.ms, 1, '', '', 0}
  end
  if m[3] == 'admins' and not a.anyone and string.sub(role, 1, 6) == 'member' then return {'FORBIDDEN'} end
  local before = tonumber(redis.call('GET', k.id))
  if tonumber(a.reply_to) > before then return {'OUTOFRANGE'} end

  -- A reaction: whether it is there already, and how many have it.
  local one, one_gone, count_old, count_new
  local target, emoji, removed = a.target, a.emoji, a.removed
  if kind == 'reaction' then
    local stored = redis.call('ZRANGEBYSCORE', k.msgs, target, target)[1]
    if not stored or string.match(stored, '^%d+ %S+ (%S+)') == 'x' then return {'NOTFOUND'} end
    if m[6] == '0' and tonumber(target) < tonumber(redis.call('ZSCORE', k.joined, from)) then return {'NOTFOUND'} end
    one = target .. ' ' .. from .. ' ' .. emoji
    one_gone = '-' .. one
    local here, gone = redis.call('ZSCORE', k.reacted, one), redis.call('ZSCORE', k.reacted, one_gone)
    local same = removed and gone or not removed and here
    if same then
      -- The entry is stored as long as its record is: they are trimmed together.
      local entry = redis.call('ZRANGEBYSCORE', k.msgs, same, same)[1]
      local entry_mark = string.match(entry, '^%d+ (%S+)')
      if a.key ~= '' then
        remember(k.sent, a.key, int(tonumber(same)), sent_ms, entry_mark, a.content, a.keys_max)
        redis.call('ZADD', k.senders, int(clock_ms()), from)
      end
      if a.durable then redis.call('ZADD', k.reacted, same, removed and one_gone or one) end
      return {'OK', int(tonumber(same)), epoch, entry_mark, sent_ms, 1, entry, '', 0}
    end
    if removed and not here then return {'NOTFOUND'} end
    local counts, count = redis.call('ZRANGEBYSCORE', k.reactions, target, target), 0
    for _, c in ipairs(counts) do
      local e, n = string.match(c, '^%d+ (.*) (%d+)$')
      if e == emoji then count_old, count = c, tonumber(n) end
    end
    if not count_old and #counts >= a.emojis_max then return {'EMOJIS'} end
    count = removed and count - 1 or count + 1
    if count > 0 then count_new = target .. ' ' .. emoji .. ' ' .. int(count) end
  end

  -- Whom the message names, of those who are members.
  local told, told_keys = {}, {}
  if #a.mentions > 0 then
    local roles = redis.call('HMGET', k.members, unpack(a.mentions))
    for i, user in ipairs(a.mentions) do
      if roles[i] and user ~= from then
        told[#told + 1], told_keys[#told_keys + 1] = user, k.at[i]
      end
    end
  end
  local quiet = not k.qk
  if quiet and redis.call('EXISTS', k.wants) == 1 then return {'WANTS'} end
  local now_ms = clock_ms()

  -- From here on everything is written, and nothing can fail.
  local message = kind == 'text' or kind == 'data'
  local id, member = write_entry(k.id, k.msgs, mark, message and '-' or 'x', a.rest)
  local last, backlog_max = tonumber(id), tonumber(m[4])
  if message then
    redis.call('ZADD', k.by, id, id)
    if redis.call('ZCARD', k.by) % 64 == 0 then prune(k.by, last - backlog_max) end
    redis.call('HSET', k.meta, 'mark', mark, 'active_ms', sent_ms, 'newest', id)
  else
    redis.call('ZADD', k.skip, id, id)
    redis.call('HSET', k.meta, 'mark', mark, 'active_ms', sent_ms)
  end
  if one then
    redis.call('ZREM', k.reacted, removed and one or one_gone)
    redis.call('ZADD', k.reacted, id, removed and one_gone or one)
    if count_old then redis.call('ZREM', k.reactions, count_old) end
    if count_new then redis.call('ZADD', k.reactions, target, count_new) end
  end
  advance(k.seen, k.read, from, id)
  redis.call('ZADD', k.senders, int(now_ms), from)
  if a.key ~= '' then remember(k.sent, a.key, id, sent_ms, mark, a.content, a.keys_max) end

  for _, at in ipairs(told_keys) do
    redis.call('ZADD', at, id, id)
    if redis.call('ZCARD', at) % 64 == 0 then prune(at, last - backlog_max) end
  end
  if #told > 0 then
    task_enqueue(k.qk, a.task_id, 'mention', '{"group":"' .. a.group .. '","epoch":"' .. epoch .. '","id":' .. id ..
      ',"from":"' .. from .. '","users":["' .. table.concat(told, '","') .. '"]}', 'high', 0, now_ms, '')
  end
  if not quiet then log_grew(k, a.group, epoch, id, now_ms, message) end

  local more = sweep(k, last, tonumber(m[5]), backlog_max)
  tell(a.channel, epoch, member)
  return {'OK', id, epoch, mark, sent_ms, 0, '', last % 64 == 0 and idle(k.senders, now_ms) or '', more and 1 or 0}
end
