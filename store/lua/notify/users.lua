-- Decides which members of a group, all of them offline, to notify of unread messages, records up to which message, and
-- enqueues the tasks that make the deliveries: one for users whom a new message mentions, one for the others. Users who
-- were notified of everything that is unread are not notified again.
--
-- KEYS  last_id meta members joined read msgs skip levels notified at_all core:enqueue counted(by at)...
-- ARGV  group epoch high_id normal_id users...
--   counted            of each user
--   high_id, normal_id  of the tasks
--   users              at most 100
-- Returns {OK, how many are notified}
-- Refuses NOTFOUND
-- include: unread
-- include: mentions_above
-- include: task_deliver
local has_epoch, backlog_max, pruned, history, newest, archived_from, all =
  unpack(redis.call('HMGET', meta, 'epoch', 'backlog_max', 'floor', 'history', 'newest', 'archived_from', 'alls'))
if has_epoch ~= epoch then return {'NOTFOUND'} end
if not newest or not ARGV[users] then return {'OK', 0} end
newest, backlog_max = tonumber(newest), tonumber(backlog_max)
local last, stored, now_ms = tonumber(redis.call('GET', last_id)), redis.call('ZCARD', msgs), clock_ms()
local is_member, level_of = redis.call('HMGET', members, unpack(ARGV, users)), redis.call('HMGET', levels, unpack(ARGV, users))
local read_to, notified_to = redis.call('ZMSCORE', read, unpack(ARGV, users)), redis.call('ZMSCORE', notified, unpack(ARGV, users))
local joined_at = (history == '0' or all) and redis.call('ZMSCORE', joined, unpack(ARGV, users)) or {}

-- The 64 ids from the newest message down, and which of them to skip: looked up once for all users.
local skipped, ids = nil, {}
for id = newest, math.max(newest - 63, 1), -1 do ids[#ids + 1] = int(id) end

-- Returns the newest message of others above since, among these, else 0.
local function shown(since, by)
  skipped = skipped or redis.call('ZMSCORE', skip, unpack(ids))
  for i, id in ipairs(ids) do
    if tonumber(id) <= since then break end
    if not skipped[i] and not redis.call('ZSCORE', by, id) then return id end
  end
  return '0'
end

-- Returns the newest message that mentions a member who joined at joined_id.
local function newest_mention(at, at_all, joined_id)
  local newest = redis.call('ZREVRANGEBYSCORE', at, '+inf', '(0', 'LIMIT', 0, 1)[1] or '0'
  for _, id in ipairs(at_all and redis.call('ZREVRANGE', at_all, 0, 63) or {}) do
    if tonumber(id) <= tonumber(joined_id) then break end
    if not redis.call('ZSCORE', at, id) then return int(math.max(tonumber(id), tonumber(newest))) end
  end
  return newest
end

-- Returns what the ith user gets notified of, and whether a new message mentions them; nil: nothing. position is the
-- index of the user's keys.
local function notification(i, user, position)
  local level, until_ms = string.match(level_of[i] or '', '^(%S+) (%d+)$')
  if level and until_ms ~= '0' and tonumber(until_ms) <= now_ms then level = nil end
  if level == 'none' then return nil end
  -- bind: counted at position
  local floor = count_floor(last, stored, archived_from, tonumber(read_to[i]), backlog_max, pruned, history == '0' and joined_at[i])
  local since = math.max(floor, tonumber(notified_to[i] or 0))
  local mentioned = mentions_above(since, at, all and at_all, joined_at[i]) > 0
  if level == 'mentions' and not mentioned then return nil end
  if unread(last, since, skip, by) <= 0 then return nil end
  local show = level == 'mentions' and newest_mention(at, all and at_all, joined_at[i]) or shown(since, by)
  return delivery_to(user, unread(last, floor, skip, by), mentions_above(floor, at, all and at_all, joined_at[i]), show), mentioned
end

local high, normal, positions, position = {}, {}, {}, counted
for i, is in ipairs(is_member) do
  local user = ARGV[users + i - 1]
  if is and read_to[i] then
    local text, mentioned = notification(i, user, position)
    if text then
      local to = mentioned and high or normal
      to[#to + 1] = text
      positions[#positions + 1] = int(last)
      positions[#positions + 1] = user
    end
  end
  position = position + counted_row
end
if #positions == 0 then return {'OK', 0} end

redis.call('ZADD', notified, unpack(positions))
if #high > 0 then enqueue_deliveries(high_id, group, epoch, last, 'high', high, now_ms) end
if #normal > 0 then enqueue_deliveries(normal_id, group, epoch, last, 'normal', normal, now_ms) end
return {'OK', #positions / 2}
