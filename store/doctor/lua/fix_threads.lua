-- Mends a reply, a thread or who follows one, and has the settings say whether there are threads. What is right already stays.
--
-- KEYS  last_id meta members msgs threads replies
-- ARGV  what id root user
--   what  reply (id, and the root and the author under which it is found, if any), thread (root), follower (user and root), or
--         listed (a member of replies that says where a thread ends, as the user)
-- Returns {OK}
-- include: reply_names
-- include: thread_root
local last = tonumber(redis.call('GET', last_id) or 0)
local function stored_at(at) return redis.call('ZRANGEBYSCORE', msgs, at, at)[1] end

local function mend_thread(of)
  local newest, stored = redis.call('ZSCORE', threads, of), stored_at(of)
  if newest then redis.call('ZREM', replies, 'l' .. padded(newest) .. ' ' .. padded(of)) end
  if tonumber(of) > last or stored and not thread_root(stored) then
    redis.call('ZREM', threads, of, '@all ' .. of .. ' m')
    return
  end
  local begin = 'r' .. padded(of)
  local reply = redis.call('ZREVRANGEBYLEX', replies, '(' .. begin .. ' ' .. padded(last + 1), '[' .. begin .. ' ', 'LIMIT', 0, 1)[1]
  if not reply and not newest then return end
  local now = reply and int(tonumber(string.match(reply, '^r%d+ (%d+)'))) or '0'
  redis.call('ZADD', threads, now, of)
  redis.call('ZADD', replies, '0', 'l' .. padded(now) .. ' ' .. padded(of))
end

if what == 'reply' then
  local known, stored = {}, stored_at(id)
  if root ~= '' then known[1] = {root, user} end
  local begin = 'i' .. padded(id)
  for _, entry in ipairs(redis.call('ZRANGEBYLEX', replies, '[' .. begin .. ' ', '(' .. begin .. '!')) do
    local in_root, author = string.match(entry, '^i%d+ (%d+) (.*)$')
    known[#known + 1] = {int(tonumber(in_root)), author}
  end
  local is
  if stored then
    local edits, author, in_root = string.match(stored, '^%d+ %S+ (%S+) {"id":%d+,"group":"[^"]*","from":"([^"]*)","kind":"%a+","thread":(%d+)')
    if edits and edits ~= 'x' then is = {in_root, author} end
  elseif tonumber(id) <= last and known[1] then
    -- It is in the archive: two of three are right.
    local count = 0
    for _, score in ipairs(redis.call('ZMSCORE', replies, reply_names(id, known[1][1], known[1][2]))) do count = count + (score and 1 or 0) end
    if count > 1 then is = known[1] end
  end
  for _, one in ipairs(known) do redis.call('ZREM', replies, reply_names(id, one[1], one[2])) end
  if is then
    for _, name in ipairs({reply_names(id, is[1], is[2])}) do redis.call('ZADD', replies, '0', name) end
    known[#known + 1] = is
  end
  for _, one in ipairs(known) do mend_thread(one[1]) end
elseif what == 'thread' then
  mend_thread(root)
elseif what == 'listed' then
  local at, of = string.match(user, '^l(%d+) (%d+)$')
  if at and tonumber(redis.call('ZSCORE', threads, int(tonumber(of))) or -1) ~= tonumber(at) then redis.call('ZREM', replies, user) end
elseif what == 'follower' then
  local one = user .. ' ' .. root
  local is = tonumber(root) <= last and (user == '@all' and redis.call('ZSCORE', threads, root) or
    redis.call('HEXISTS', members, user) == 1 and redis.call('ZSCORE', threads, one))
  if is then
    for _, name in ipairs({one, one .. ' n', one .. ' m'}) do
      if tonumber(redis.call('ZSCORE', threads, name) or 0) > last then redis.call('ZADD', threads, int(last), name) end
    end
    if user ~= '@all' then redis.call('ZADD', replies, '0', 'f' .. user .. ' ' .. padded(root), '0', 't' .. padded(root) .. ' ' .. user) end
  else
    redis.call('ZREM', threads, one, one .. ' n', one .. ' m')
    redis.call('ZREM', replies, 'f' .. user .. ' ' .. padded(root), 't' .. padded(root) .. ' ' .. user)
  end
end
if redis.call('EXISTS', threads) == 1 then redis.call('HSET', meta, 'threads', '1') end
return {'OK'}
