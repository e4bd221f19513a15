-- Decides which followers of a thread, all of them offline, to notify of unread replies, records up to which reply, and enqueues the
-- tasks that make the deliveries, as notify/users.lua does for a group.
--
-- KEYS  last_id meta members joined msgs levels threads replies core:enqueue
-- ARGV  group epoch root:int high_id normal_id users...
--   high_id, normal_id  of the tasks
--   users               at most 100
-- Returns {OK, how many are notified}
-- Refuses NOTFOUND
-- include: threads
-- include: task_deliver
local has_epoch, history, archived_from = unpack(redis.call('HMGET', meta, 'epoch', 'history', 'archived_from'))
if has_epoch ~= epoch then return {'NOTFOUND'} end
local newest = tonumber(redis.call('ZSCORE', threads, int(root)) or 0)
if newest == 0 or not ARGV[users] then return {'OK', 0} end
local now_ms = clock_ms()
local oldest = tonumber(archived_from or redis.call('GET', last_id) - redis.call('ZCARD', msgs) + 1)
local is_member, level_of = redis.call('HMGET', members, unpack(ARGV, users)), redis.call('HMGET', levels, unpack(ARGV, users))
local joined_at = history == '0' and redis.call('ZMSCORE', joined, unpack(ARGV, users)) or {}
local names = {'@all ' .. int(root) .. ' m'}
for i = users, #ARGV do
  local one = ARGV[i] .. ' ' .. int(root)
  names[#names + 1], names[#names + 2], names[#names + 3] = one, one .. ' n', one .. ' m'
end
local scores = redis.call('ZMSCORE', threads, unpack(names))
local at_all = tonumber(scores[1] or 0)

-- The newest replies, from which one is shown.
local low, high = reply_range(root, oldest - 1)
local known = {}
for i, entry in ipairs(redis.call('ZREVRANGEBYLEX', replies, high, low, 'LIMIT', 0, 16)) do
  local id, author = string.match(entry, '^r%d+ (%d+) (.*)$')
  known[i] = {id = tonumber(id), author = author}
end

-- Returns the newest reply of others above an id, 0 if it is not among these.
local function shown(user, since)
  for _, r in ipairs(known) do
    if r.id <= since then break end
    if r.author ~= user then return r.id end
  end
  return 0
end

-- Returns the reply that mentions a user, 0 if it is their own or deleted.
local authors = {}
local function mention(user, id)
  if id < oldest then return 0 end
  if not authors[id] then
    local prefix = 'r' .. padded(root) .. ' ' .. padded(id)
    local entry = redis.call('ZRANGEBYLEX', replies, '[' .. prefix .. ' ', '(' .. prefix .. '!', 'LIMIT', 0, 1)[1]
    authors[id] = entry and string.sub(entry, #prefix + 2) or ''
  end
  return authors[id] ~= '' and authors[id] ~= user and id or 0
end

-- Returns what a user gets notified of, and whether a new reply mentions them; nil: nothing. position is that of their scores.
local function notification(i, user, position)
  local read, joined_id = tonumber(scores[position]), tonumber(joined_at[i] or 0)
  if joined_id > root then return nil end
  local level, until_ms = string.match(level_of[i] or '', '^(%S+) (%d+)$')
  if level and until_ms ~= '0' and tonumber(until_ms) <= now_ms then level = nil end
  if level == 'none' then return nil end
  local since = math.max(read, tonumber(scores[position + 1] or 0))
  if unread_replies(user, root, newest, since, oldest) <= 0 then return nil end
  local mentioned_in = math.max(mention(user, tonumber(scores[position + 2] or 0)), mention(user, at_all))
  if level == 'mentions' and mentioned_in <= since then return nil end
  local show = level == 'mentions' and mentioned_in or shown(user, since)
  return delivery_to(user, unread_replies(user, root, newest, read, oldest), mentioned_in > read and 1 or 0, int(show)), mentioned_in > since
end

local high_users, normal_users, positions = {}, {}, {}
for i, is in ipairs(is_member) do
  local user = ARGV[users + i - 1]
  if is and scores[3 * i - 1] then
    local text, mentioned = notification(i, user, 3 * i - 1)
    if text then
      local to = mentioned and high_users or normal_users
      to[#to + 1] = text
      positions[#positions + 1] = int(newest)
      positions[#positions + 1] = user .. ' ' .. int(root) .. ' n'
    end
  end
end
if #positions == 0 then return {'OK', 0} end

redis.call('ZADD', threads, unpack(positions))
if #high_users > 0 then enqueue_deliveries(high_id, group, epoch, newest, 'high', high_users, now_ms, root) end
if #normal_users > 0 then enqueue_deliveries(normal_id, group, epoch, newest, 'normal', normal_users, now_ms, root) end
return {'OK', #positions / 2}
