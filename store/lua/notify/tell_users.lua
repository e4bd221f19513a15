-- include: int.lua
-- include: counts.lua
-- include: task_enqueue.lua
-- Decides for members of a group who are away whether to tell them of what is unread, notes up to where they were told, and
-- enqueues the tasks that make the deliveries: one for those whom something new mentions, one for the others. Whoever was told
-- of all that is unread is not told again.
--
-- KEYS  1 id, 2 meta, 3 members, 4 joined, 5 read, 6 skip, 7 levels, 8 told, 9..16 of the core queue, 17 msgs, then
--       by:<user> and at:<user> of each user
-- ARGV  1 group, 2 epoch, 3 id for the high task, 4 id for the normal task, then the users, at most 100
-- Returns {OK, how many are told}
-- Refuses NOTFOUND
local id_key, meta, members, joined, read, skip, levels, told = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7],
  KEYS[8]
local group, epoch, high_id, normal_id = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local users, qk = {unpack(ARGV, 5)}, 9

local m = redis.call('HMGET', meta, 'epoch', 'backlog_max', 'floor', 'history', 'newest')
if m[1] ~= epoch then return {'NOTFOUND'} end
if not m[5] or #users == 0 then return {'OK', 0} end
local last, newest, now_ms = tonumber(redis.call('GET', id_key)), tonumber(m[5]), clock_ms()
local stored = redis.call('ZCARD', KEYS[17])
local is_member, level_of = redis.call('HMGET', members, unpack(users)), redis.call('HMGET', levels, unpack(users))
local read_to, told_to = redis.call('ZMSCORE', read, unpack(users)), redis.call('ZMSCORE', told, unpack(users))
local joined_at = m[4] == '0' and redis.call('ZMSCORE', joined, unpack(users)) or {}

-- The 64 ids from the newest message down, and which of them are to be skipped: looked up once for all users.
local skipped, ids = nil, {}
for id = newest, math.max(newest - 63, 1), -1 do ids[#ids + 1] = int(id) end

-- The newest message of others above since, among these, else 0.
local function shown(since, by)
  skipped = skipped or redis.call('ZMSCORE', skip, unpack(ids))
  for i, id in ipairs(ids) do
    if tonumber(id) <= since then break end
    if not skipped[i] and not redis.call('ZSCORE', by, id) then return id end
  end
  return '0'
end

-- What user i is told, as JSON, and whether something new mentions them; nil: nothing.
local function tell(i, user)
  local level, until_ms = string.match(level_of[i] or '', '^(%S+) (%d+)$')
  if level and until_ms ~= '0' and tonumber(until_ms) <= now_ms then level = nil end
  if level == 'none' then return nil end
  local by, at = KEYS[16 + 2 * i], KEYS[17 + 2 * i]
  local floor = count_floor(last, stored, tonumber(read_to[i]), tonumber(m[2]), m[3], joined_at[i])
  local since = math.max(floor, tonumber(told_to[i] or 0))
  local mentioned = redis.call('ZCOUNT', at, '(' .. int(since), '+inf') > 0
  if level == 'mentions' and not mentioned then return nil end
  if unread(last, since, skip, by) <= 0 then return nil end
  local show = level == 'mentions' and redis.call('ZREVRANGE', at, 0, 0)[1] or shown(since, by)
  return '{"user":"' .. user .. '","count":' .. int(unread(last, floor, skip, by)) .. ',"mentions":' ..
    int(redis.call('ZCOUNT', at, '(' .. int(floor), '+inf')) .. ',"show":' .. show .. '}', mentioned
end

local high, normal, marks = {}, {}, {}
for i, user in ipairs(users) do
  if is_member[i] and read_to[i] then
    local text, mentioned = tell(i, user)
    if text then
      local to = mentioned and high or normal
      to[#to + 1] = text
      marks[#marks + 1] = int(last)
      marks[#marks + 1] = user
    end
  end
end
if #marks == 0 then return {'OK', 0} end

redis.call('ZADD', told, unpack(marks))
for _, task in ipairs({{high_id, 'high', high}, {normal_id, 'normal', normal}}) do
  if #task[3] > 0 then
    task_enqueue(qk, task[1], 'tell', '{"group":"' .. group .. '","epoch":"' .. epoch .. '","last":' .. int(last) ..
      ',"at_ms":' .. int(now_ms) .. ',"priority":"' .. task[2] .. '","users":[' .. table.concat(task[3], ',') .. ']}',
      task[2], 0, now_ms, '')
  end
end
return {'OK', #marks / 2}
