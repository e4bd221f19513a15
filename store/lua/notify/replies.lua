-- Decides which followers of a thread, all of them offline, to notify of unread replies, records up to which reply, and enqueues the
-- tasks that make the deliveries, as notify/users.lua does for a group. Whom a reply mentions is looked up in the newest 16.
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
local names = {}
for i = users, #ARGV do
  names[#names + 1], names[#names + 2] = ARGV[i] .. ' ' .. int(root), ARGV[i] .. ' ' .. int(root) .. ' n'
end
local scores = redis.call('ZMSCORE', threads, unpack(names))

-- The newest replies, with their authors and whom they mention.
local low, high = reply_range(root, oldest - 1)
local known = {}
for i, entry in ipairs(redis.call('ZREVRANGEBYLEX', replies, high, low, 'LIMIT', 0, 16)) do
  local id, author = string.match(entry, '^r%d+ (%d+) (.*)$')
  known[i] = {id = int(tonumber(id)), author = author, mentions = {}}
  local stored = redis.call('ZRANGEBYSCORE', msgs, known[i].id, known[i].id)[1]
  local json = stored and string.match(stored, '^%d+ %S+ %S+ (.*)$')
  if json and string.find(json, '"mentions":[', 1, true) then
    local whole, message = pcall(cjson.decode, json)
    for _, user in ipairs(whole and type(message.mentions) == 'table' and message.mentions or {}) do known[i].mentions[user] = true end
  end
end

-- Returns the newest reply of others above an id, of those that mention the user how many there are, and the newest of them.
local function shown(user, since)
  local show, count, mention = '0', 0, '0'
  for _, r in ipairs(known) do
    if tonumber(r.id) <= since then break end
    if r.author ~= user then
      if show == '0' then show = r.id end
      if r.mentions[user] or r.mentions['@all'] then
        if count == 0 then mention = r.id end
        count = count + 1
      end
    end
  end
  return show, count, mention
end

-- Returns what a user gets notified of, and whether a new reply mentions them; nil: nothing.
local function notification(i, user)
  local read, joined_id = tonumber(scores[2 * i - 1]), tonumber(joined_at[i] or 0)
  if joined_id > root then return nil end
  local level, until_ms = string.match(level_of[i] or '', '^(%S+) (%d+)$')
  if level and until_ms ~= '0' and tonumber(until_ms) <= now_ms then level = nil end
  if level == 'none' then return nil end
  local since = math.max(read, tonumber(scores[2 * i] or 0))
  if unread_replies(user, root, newest, since, oldest) <= 0 then return nil end
  local show, new_mentions, mention = shown(user, since)
  if level == 'mentions' then
    if new_mentions == 0 then return nil end
    show = mention
  end
  local _, mentions = shown(user, read)
  return delivery_to(user, unread_replies(user, root, newest, read, oldest), mentions, show), new_mentions > 0
end

local high_users, normal_users, positions = {}, {}, {}
for i, is in ipairs(is_member) do
  local user = ARGV[users + i - 1]
  if is and scores[2 * i - 1] then
    local text, mentioned = notification(i, user)
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
