-- include: base
-- needs: threads replies
-- Threads are found by ranges of `replies`, a ZSET of which all scores are 0. It has for each reply `r<root> <id> <author>`, `o<author> <root> <id>`
-- and `i<id> <root> <author>`, for each thread `l<newest reply> <root>`, and for each who follows one `f<user> <root>` and
-- `t<root> <user>`, all ids of 16 digits. `threads` has the newest reply of each root, 0 where none is left, of `<user> <root>` how far a
-- follower has read, of `<user> <root> n` up to where they were notified, and of `<user> <root> m` the newest reply that mentions
-- them, or `@all`.
local function padded(id) return string.format('%016.0f', tonumber(id)) end

-- reply_range is what the replies to a root begin with that are above an id, and where they end.
local function reply_range(root, above)
  return '[r' .. padded(root) .. ' ' .. padded(above + 1), '(r' .. padded(root) .. '!'
end

-- count_replies counts the replies to a root above an id, those of author if one is given.
local function count_replies(root, above, author)
  local low, high = reply_range(root, above)
  if author then
    low = '[o' .. author .. ' ' .. padded(root) .. ' ' .. padded(above + 1)
    high = '(o' .. author .. ' ' .. padded(root) .. '!'
  end
  return redis.call('ZLEXCOUNT', replies, low, high)
end

-- unread_replies counts the replies of others to a root above what a follower has read. oldest is the lowest id that can be read.
local function unread_replies(user, root, newest, at, oldest)
  at = math.max(at, oldest - 1)
  if newest <= at then return 0 end
  return count_replies(root, at) - count_replies(root, at, user)
end

-- followed lists the threads that a user follows: root, newest reply and what they have read. Those that have ended are left out.
local function followed(user, oldest)
  local list, entries = {}, redis.call('ZRANGEBYLEX', replies, '[f' .. user .. ' ', '(f' .. user .. '!')
  for from = 1, #entries, 500 do
    local names = {}
    for i = from, math.min(from + 499, #entries) do
      local root = int(tonumber(string.sub(entries[i], -16)))
      names[#names + 1], names[#names + 2] = root, user .. ' ' .. root
    end
    local scores = redis.call('ZMSCORE', threads, unpack(names))
    for i = 1, #names, 2 do
      local root = tonumber(names[i])
      if scores[i] and scores[i + 1] and root >= oldest then
        list[#list + 1] = {root = root, newest = tonumber(scores[i]), read = tonumber(scores[i + 1])}
      end
    end
  end
  return list
end

-- unread_threads counts what a user has not read in the threads that they follow.
local function unread_threads(user, oldest)
  local count = 0
  for _, t in ipairs(followed(user, oldest)) do count = count + unread_replies(user, t.root, t.newest, t.read, oldest) end
  return count
end
