-- include: entry.lua
-- include: trim.lua
-- include: retry.lua
-- include: task_enqueue.lua
-- Appends an entry of a member, or gives the first answer again where the retry key is known.
--
-- KEYS  1 id, 2 meta, 3 members, 4 msgs, 5 seen, 6 read, 7 skip, 8 senders, 9 sent:<from>, 10 by:<from>, 11 reactions,
--       12 reacted, 13 joined; with mentions also 14..21 of the core queue, then at:<user> of each
-- ARGV  1 from, 2 kind, 3 mark, 4 rest of the JSON, 5 sent_at in ms, 6 retry key, 7 hash of the content, 8 reply_to,
--       9 target, 10 emoji, 11 '1' to remove the reaction, 12 '1' for a durable answer, 13 channel, 14 retry keys to
--       keep, 15 emoji on a message, 16 group, 17 id for a task, then the mentioned users
-- Returns {OK, id, epoch, mark, sent_at ms, 1 for a duplicate, the stored message (duplicate reaction only), a sender
--       to be forgotten or '', 1 where there is more to trim}
-- Refuses NOTFOUND, FORBIDDEN, KEYREUSED, OUTOFRANGE, EMOJIS
local id_key, meta, members, msgs, seen, read, skip = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local senders, sent, by, reactions, reacted, joined = KEYS[8], KEYS[9], KEYS[10], KEYS[11], KEYS[12], KEYS[13]
local from, kind, mark, rest, sent_ms, key, content = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local reply_to, target, emoji, removed, durable = ARGV[8], ARGV[9], ARGV[10], ARGV[11] == '1', ARGV[12] == '1'
local channel, keys_max, emojis_max = ARGV[13], tonumber(ARGV[14]), tonumber(ARGV[15])
local group, task_id = ARGV[16], ARGV[17]

local m = redis.call('HMGET', meta, 'epoch', 'visibility', 'post', 'backlog_max', 'keep', 'history')
local epoch = m[1]
if not epoch then return {'NOTFOUND'} end
local role = redis.call('HGET', members, from)
if not role then return {m[2] == 'public' and 'FORBIDDEN' or 'NOTFOUND'} end

local first_time = known(sent, key, content, durable)
if first_time then
  return first_time.refused or {'OK', first_time.id, epoch, first_time.mark, first_time.ms, 1, '', '', 0}
end
if m[3] == 'admins' and string.sub(role, 1, 6) == 'member' then return {'FORBIDDEN'} end
local before = tonumber(redis.call('GET', id_key))
if tonumber(reply_to) > before then return {'OUTOFRANGE'} end

-- A reaction: whether it is there already, and how many have it.
local one, one_gone, count_old, count_new
if kind == 'reaction' then
  local stored = redis.call('ZRANGEBYSCORE', msgs, target, target)[1]
  if not stored or string.match(stored, '^%d+ %S+ (%S+)') == 'x' then return {'NOTFOUND'} end
  if m[6] == '0' and tonumber(target) < tonumber(redis.call('ZSCORE', joined, from)) then return {'NOTFOUND'} end
  one = target .. ' ' .. from .. ' ' .. emoji
  one_gone = '-' .. one
  local here, gone = redis.call('ZSCORE', reacted, one), redis.call('ZSCORE', reacted, one_gone)
  local same = removed and gone or not removed and here
  if same then
    -- The entry is stored as long as its record is: they are trimmed together.
    local entry = redis.call('ZRANGEBYSCORE', msgs, same, same)[1]
    local entry_mark = string.match(entry, '^%d+ (%S+)')
    if key ~= '' then
      remember(sent, key, int(tonumber(same)), sent_ms, entry_mark, content, keys_max)
      redis.call('ZADD', senders, int(clock_ms()), from)
    end
    if durable then redis.call('ZADD', reacted, same, removed and one_gone or one) end
    return {'OK', int(tonumber(same)), epoch, entry_mark, sent_ms, 1, entry, '', 0}
  end
  if removed and not here then return {'NOTFOUND'} end
  local counts, count = redis.call('ZRANGEBYSCORE', reactions, target, target), 0
  for _, c in ipairs(counts) do
    local e, n = string.match(c, '^%d+ (.*) (%d+)$')
    if e == emoji then count_old, count = c, tonumber(n) end
  end
  if not count_old and #counts >= emojis_max then return {'EMOJIS'} end
  count = removed and count - 1 or count + 1
  if count > 0 then count_new = target .. ' ' .. emoji .. ' ' .. int(count) end
end

-- Whom the message names, of those who are members.
local told, told_keys = {}, {}
if #ARGV > 17 then
  local named = {}
  for i = 18, #ARGV do named[#named + 1] = ARGV[i] end
  local roles = redis.call('HMGET', members, unpack(named))
  for i, user in ipairs(named) do
    if roles[i] and user ~= from then
      told[#told + 1], told_keys[#told_keys + 1] = user, KEYS[21 + i]
    end
  end
end
local now_ms = clock_ms()

-- From here on everything is written, and nothing can fail.
local message = kind == 'text' or kind == 'data'
local id, member = write_entry(id_key, msgs, mark, message and '-' or 'x', rest)
local last, backlog_max = tonumber(id), tonumber(m[4])
if message then
  redis.call('ZADD', by, id, id)
  if redis.call('ZCARD', by) % 64 == 0 then prune(by, last - backlog_max) end
  redis.call('HSET', meta, 'mark', mark, 'active_ms', sent_ms, 'newest', id)
else
  redis.call('ZADD', skip, id, id)
  redis.call('HSET', meta, 'mark', mark, 'active_ms', sent_ms)
end
if one then
  redis.call('ZREM', reacted, removed and one or one_gone)
  redis.call('ZADD', reacted, id, removed and one_gone or one)
  if count_old then redis.call('ZREM', reactions, count_old) end
  if count_new then redis.call('ZADD', reactions, target, count_new) end
end
advance(seen, read, from, id)
redis.call('ZADD', senders, int(now_ms), from)
if key ~= '' then remember(sent, key, id, sent_ms, mark, content, keys_max) end

for _, at in ipairs(told_keys) do
  redis.call('ZADD', at, id, id)
  if redis.call('ZCARD', at) % 64 == 0 then prune(at, last - backlog_max) end
end
if #told > 0 then
  local qk = {}
  for i = 14, 21 do qk[#qk + 1] = KEYS[i] end
  task_enqueue(qk, task_id, 'mention', '{"group":"' .. group .. '","epoch":"' .. epoch .. '","id":' .. id ..
    ',"from":"' .. from .. '","users":["' .. table.concat(told, '","') .. '"]}', 'high', 0, now_ms, '')
end

local more = sweep({seen = seen, msgs = msgs, skip = skip, reactions = reactions, reacted = reacted}, last, tonumber(m[5]),
  backlog_max)
tell(channel, epoch, member)
return {'OK', id, epoch, mark, sent_ms, 0, '', last % 64 == 0 and idle(senders, now_ms) or '', more and 1 or 0}
