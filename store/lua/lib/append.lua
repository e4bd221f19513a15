-- Appends an entry, or repeats the first answer if the retry key is known. It checks everything before it writes
-- anything. It is not a function: a closure over so many names would cost a tenth of a send. A script that needs the
-- answer includes it in a function.
--
-- named, core and at may be nil if nobody is mentioned; anyone is true if the sender need not be a member; bytes_added is the size
-- of the files that the entry names.
--
-- Returns {OK, id, epoch, mark, sent_at ms, 1 for a duplicate, the stored message (duplicate reaction only), a sender to
--       forget or '', 1 if there is more to trim}, or a refusal: NOTFOUND, FORBIDDEN, KEYREUSED, OUTOFRANGE,
--       EMOJIS; BLOCKED, then user, entries behind and bytes behind of each that the send has to wait for; WANTS if the keys of the queue were left
--       out and are needed, NAMED if the key named was
-- needs: last_id meta members msgs seen read skip senders sent by reactions reacted joined wants named core at
-- needs: from kind mark rest sent_ms key content reply_to target emoji removed durable channel keys_max emojis_max group
-- needs: task_id below same mentions anyone bytes_added
-- include: base
-- include: not_member
-- include: retry
-- include: entry
-- include: prune
-- include: blockers
local epoch, visibility, post, backlog_max, keep, history, overflow, backlog_bytes = unpack(redis.call('HMGET', meta, 'epoch',
  'visibility', 'post', 'backlog_max', 'keep', 'history', 'overflow', 'backlog_bytes'))
if not epoch then return {'NOTFOUND'} end
local role = redis.call('HGET', members, from)
if not role and not anyone then return not_member(visibility) end

local first_time = known(key, content, durable)
if first_time then
  return first_time.refused or {'OK', first_time.id, epoch, first_time.mark, first_time.ms, 1, '', '', 0}
end
if post == 'admins' and not anyone and string.sub(role, 1, 6) == 'member' then return {'FORBIDDEN', 'posters'} end
if overflow == 'block' and not anyone then
  local refused = refuse_blocked(from, tonumber(backlog_max), tonumber(backlog_bytes), bytes_added)
  if refused then return refused end
end
if reply_to ~= '0' then
  local n, low, high = tonumber(reply_to), 1, tonumber(redis.call('GET', last_id))
  if history == '0' and role then low = tonumber(redis.call('ZSCORE', joined, from)) end
  if n < low or n > high then return {'OUTOFRANGE', 'reply_to', int(low), int(high)} end
end

-- For a reaction: whether it exists already, and how many have it.
local one, one_gone, count_old, count_new, taken_back
local reacts, stored = kind == 'reaction', nil
if reacts then stored = redis.call('ZRANGEBYSCORE', msgs, target, target)[1] end
if reacts and not stored then
  local archived_from, late = unpack(redis.call('HMGET', meta, 'archived_from', 'late'))
  local n, low = tonumber(target), tonumber(archived_from or 0)
  if history == '0' then low = math.max(low, tonumber(redis.call('ZSCORE', joined, from))) end
  if not archived_from or n < low or n > tonumber(redis.call('GET', last_id)) then return {'NOTFOUND'} end
  if below == '' then return {'ARCHIVED'} end
  if below ~= epoch .. ' ' .. (late or '0') then return {'CONFLICT'} end
  if same ~= '' then
    local same_id, same_mark = string.match(same, '^(%d+) (%S+)$')
    if key ~= '' then
      remember(key, same_id, sent_ms, same_mark, content, keys_max)
      redis.call('ZADD', senders, int(clock_ms()), from)
    end
    if durable then redis.call('HSET', meta, 'epoch', epoch) end
    return {'OK', same_id, epoch, same_mark, sent_ms, 1, '', '', 0}
  end
elseif reacts then
  if string.match(stored, '^%d+ %S+ (%S+)') == 'x' then return {'NOTFOUND'} end
  if history == '0' and tonumber(target) < tonumber(redis.call('ZSCORE', joined, from)) then return {'NOTFOUND'} end
  one = target .. ' ' .. from .. ' ' .. emoji
  one_gone = '-' .. one
  local here, gone = redis.call('ZSCORE', reacted, one), redis.call('ZSCORE', reacted, one_gone)
  local same = removed and gone or not removed and here
  if same then
    -- The entry is stored as long as its record is: they are trimmed together.
    local entry = redis.call('ZRANGEBYSCORE', msgs, same, same)[1]
    local entry_mark = string.match(entry, '^%d+ (%S+)')
    if key ~= '' then
      remember(key, int(tonumber(same)), sent_ms, entry_mark, content, keys_max)
      redis.call('ZADD', senders, int(clock_ms()), from)
    end
    -- Nothing changes, but WAIT and WAITAOF need a write on this connection; a ZADD with the same score is none.
    if durable then redis.call('HSET', meta, 'epoch', epoch) end
    return {'OK', int(tonumber(same)), epoch, entry_mark, sent_ms, 1, entry, '', 0}
  end
  if removed and not here then return {'NOTFOUND'} end
  taken_back = here and int(tonumber(here))
  local counts, count = redis.call('ZRANGEBYSCORE', reactions, target, target), 0
  for _, c in ipairs(counts) do
    local e, n = string.match(c, '^%d+ (.*) (%d+)$')
    if e == emoji then count_old, count = c, tonumber(n) end
  end
  if not count_old and #counts >= emojis_max then return {'EMOJIS'} end
  count = removed and count - 1 or count + 1
  if count > 0 then count_new = target .. ' ' .. emoji .. ' ' .. int(count) end
end

-- The mentioned users that are members.
local mentioned, mentioned_keys = {}, {}
if ARGV[mentions] then
  local roles = redis.call('HMGET', members, unpack(ARGV, mentions))
  for i, is_member in ipairs(roles) do
    local user = ARGV[mentions + i - 1]
    if is_member and user ~= from then
      mentioned[#mentioned + 1], mentioned_keys[#mentioned_keys + 1] = user, KEYS[at + i - 1]
    end
  end
end
if not core and redis.call('EXISTS', wants) == 1 then return {'WANTS'} end
local now_ms = clock_ms()

-- From here on everything is written, and nothing can fail.
local message = kind == 'text' or kind == 'data'
local id, member = write_entry(mark, message and '-' or 'x', rest)
local last = tonumber(id)
backlog_max, keep = tonumber(backlog_max), tonumber(keep)
if message then
  redis.call('ZADD', by, id, id)
  if redis.call('ZCARD', by) % 64 == 0 then prune(by, last - backlog_max) end
  redis.call('HSET', meta, 'mark', mark, 'active_ms', sent_ms, 'newest', id)
else
  redis.call('ZADD', skip, id, id)
  redis.call('HSET', meta, 'mark', mark, 'active_ms', sent_ms, reacts and 'changed' or 'mark', reacts and id or mark,
    reacts and not stored and 'late' or 'mark', reacts and not stored and id or mark)
end
if one then
  redis.call('ZREM', reacted, removed and one or one_gone)
  redis.call('ZADD', reacted, id, removed and one_gone or one)
  if count_old then redis.call('ZREM', reactions, count_old) end
  if count_new then redis.call('ZADD', reactions, target, count_new) end
end
-- A reaction that no longer stands, or whose target is in the archive, still loses its emoji with its target.
local past = reacts and (taken_back or not stored and not removed and id)
if past then redis.call('ZADD', reacted, past, '=' .. target .. ' ' .. past) end
advance(from, id)
redis.call('ZADD', senders, int(now_ms), from)
if key ~= '' then remember(key, id, sent_ms, mark, content, keys_max) end

for _, at_user in ipairs(mentioned_keys) do
  redis.call('ZADD', at_user, id, id)
  if redis.call('ZCARD', at_user) % 64 == 0 then prune(at_user, last - backlog_max) end
end
if core then
  -- include: task_mention
  -- include: log_grew
  if #mentioned > 0 then enqueue_mention(task_id, epoch, id, from, mentioned, now_ms) end
  log_grew(epoch, id, now_ms, message)
end
-- include: trim_64th
publish_entry(epoch, member)
return {'OK', id, epoch, mark, sent_ms, 0, '', last % 64 == 0 and idle_sender(senders, now_ms) or '', more and 1 or 0}
