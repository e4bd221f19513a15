-- include: threads
-- needs: meta members
-- unfollow ends that a user follows a thread.
local function unfollow(user, root)
  local one = user .. ' ' .. int(root)
  redis.call('ZREM', threads, one, one .. ' n', one .. ' m')
  redis.call('ZREM', replies, 'f' .. user .. ' ' .. padded(root), 't' .. padded(root) .. ' ' .. user)
end

-- follow has a user follow a thread, all read up to an id. A user follows 1,000 threads of a group: the oldest one goes.
local function follow(user, root, at)
  redis.call('ZADD', threads, int(at), user .. ' ' .. int(root))
  redis.call('ZADD', replies, '0', 'f' .. user .. ' ' .. padded(root), '0', 't' .. padded(root) .. ' ' .. user)
  local low, high = '[f' .. user .. ' ', '(f' .. user .. '!'
  if redis.call('ZLEXCOUNT', replies, low, high) <= 1000 then return end
  for _, entry in ipairs(redis.call('ZRANGEBYLEX', replies, low, high, 'LIMIT', 0, 2)) do
    local oldest = tonumber(string.sub(entry, -16))
    if oldest ~= root then return unfollow(user, oldest) end
  end
end

-- begin_thread makes a root have a thread, if it has none. Its author follows, where they are a member.
local function begin_thread(root, author)
  redis.call('HSET', meta, 'threads', '1')
  redis.call('ZADD', threads, '0', int(root))
  redis.call('ZADD', replies, '0', 'l' .. padded(0) .. ' ' .. padded(root))
  if redis.call('HEXISTS', members, author) == 1 then follow(author, root, root) end
end

-- end_thread forgets the thread of a root. Its replies count nowhere from then on; follows of it are passed over.
local function end_thread(root)
  local newest = redis.call('ZSCORE', threads, int(root))
  if not newest then return end
  redis.call('ZREM', threads, int(root), '@all ' .. int(root) .. ' m')
  redis.call('ZREM', replies, 'l' .. padded(newest) .. ' ' .. padded(root))
end

-- drop_reply takes a reply out of the counts of its thread.
local function drop_reply(root, id, author)
  local low, high = reply_range(root, 0)
  redis.call('ZREM', replies, 'r' .. padded(root) .. ' ' .. padded(id) .. ' ' .. author,
    'o' .. author .. ' ' .. padded(root) .. ' ' .. padded(id), 'i' .. padded(id) .. ' ' .. padded(root) .. ' ' .. author)
  local newest = redis.call('ZSCORE', threads, int(root))
  if not newest or tonumber(newest) ~= tonumber(id) then return end
  local left = redis.call('ZREVRANGEBYLEX', replies, high, low, 'LIMIT', 0, 1)[1]
  local now = left and tonumber(string.match(left, '^r%d+ (%d+)')) or 0
  redis.call('ZREM', replies, 'l' .. padded(newest) .. ' ' .. padded(root))
  redis.call('ZADD', replies, '0', 'l' .. padded(now) .. ' ' .. padded(root))
  redis.call('ZADD', threads, int(now), int(root))
end

-- thread_of is the root of a stored reply, nil of any other entry. It is the first field behind the kind: see chat.Entry.
local function thread_of(json)
  return string.match(json, '^{"id":%d+,"group":"[^"]*","from":"[^"]*","kind":"%a+","thread":(%d+)')
end

-- thread_deleted takes a message that is deleted out of the threads: a reply, or the root of one.
local function thread_deleted(target, json)
  local root = thread_of(json)
  if not root then return end_thread(tonumber(target)) end
  drop_reply(tonumber(root), tonumber(target), string.match(json, '"from":"([^"]*)"'))
end

-- leave_threads ends all that a user follows in the group.
local function leave_threads(user)
  for _, entry in ipairs(redis.call('ZRANGEBYLEX', replies, '[f' .. user .. ' ', '(f' .. user .. '!')) do
    unfollow(user, tonumber(string.sub(entry, -16)))
  end
end

-- prune_threads forgets replies that cannot be read any longer, below oldest, and beyond the newest 100,000 of the group, at most
-- 100 of them, and the threads of roots that are gone.
local function prune_threads(oldest)
  local over = redis.call('ZLEXCOUNT', replies, '[i', '(j') - 100000
  for n, entry in ipairs(redis.call('ZRANGEBYLEX', replies, '[i', '(j', 'LIMIT', 0, 100)) do
    local id, root, author = string.match(entry, '^i(%d+) (%d+) (.*)$')
    if tonumber(id) >= oldest and n > over then break end
    redis.call('ZREM', replies, entry, 'r' .. root .. ' ' .. id .. ' ' .. author, 'o' .. author .. ' ' .. root .. ' ' .. id)
    if tonumber(root) < oldest then end_thread(tonumber(root)) end
  end
  for _, entry in ipairs(redis.call('ZRANGEBYLEX', replies, '[l' .. padded(0), '(l' .. padded(oldest), 'LIMIT', 0, 100)) do
    local root = tonumber(string.sub(entry, -16))
    if root < oldest then end_thread(root) end
  end
end
