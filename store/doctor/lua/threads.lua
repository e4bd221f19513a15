-- Checks some members of threads or of replies, from a rank on: see store/lua/lib/threads.lua for what they stand for. Only reads.
--
-- KEYS  last_id meta members msgs threads replies set
-- ARGV  from:int limit:int
--   set  threads or replies
-- Returns {OK, rank to continue from or 0, 1 if the settings say that there are threads, what is wrong, the id of a reply or '', that of a
--       root or '', a user, an author or the member itself, ... of each}
-- include: reply_names
local last, archived_from = tonumber(redis.call('GET', last_id) or 0), redis.call('HGET', meta, 'archived_from')
local page, out = redis.call('ZRANGE', set, from, from + limit - 1, 'WITHSCORES'), {}
local function found(what, id, root, user)
  for _, value in ipairs({what, id and int(id) or '', root and int(root) or '', user or ''}) do out[#out + 1] = value end
end

-- ask and answer: what has to be in one of the two, and what is said if it is not.
local asked = {[threads] = {}, [replies] = {}}
local function ask(key, name, say)
  local list = asked[key]
  list[#list + 1] = {name, say}
end

-- Replies below the lowest one that is counted were dropped, the oldest first.
local lowest = redis.call('ZRANGEBYLEX', replies, '[i', '(j', 'LIMIT', 0, 1)[1]
local counted_from = lowest and tonumber(string.sub(lowest, 2, 17)) or tonumber(archived_from or last - redis.call('ZCARD', msgs) + 1)

local function check_thread(root, newest)
  if root > last then return found('ended', nil, root) end
  local begin = 'r' .. padded(root)
  local reply = redis.call('ZREVRANGEBYLEX', replies, '(' .. begin .. ' ' .. padded(last + 1), '[' .. begin .. ' ', 'LIMIT', 0, 1)[1]
  local at = reply and tonumber(string.match(reply, '^r%d+ (%d+)')) or 0
  if at ~= newest and (reply or newest >= counted_from) then return found('newest', nil, root) end
  ask(replies, 'l' .. padded(newest) .. ' ' .. padded(root), function() found('newest', nil, root) end)
end

local function check_follower(user, root, mark, at)
  if root > last or user ~= '@all' and redis.call('HEXISTS', members, user) == 0 then return found('stray', nil, root, user) end
  if at > last then return found('beyond', nil, root, user) end
  local function partly() found(user == '@all' and 'stray' or 'partly', nil, root, user) end
  if user == '@all' then return ask(threads, int(root), partly) end
  if mark ~= '' then return ask(threads, user .. ' ' .. int(root), partly) end
  ask(replies, 'f' .. user .. ' ' .. padded(root), partly)
  ask(replies, 't' .. padded(root) .. ' ' .. user, partly)
end

local function check_reply(id, root, author)
  local function partly() found('reply', id, root, author) end
  if id > last then return partly() end
  for _, name in ipairs({reply_names(id, root, author)}) do ask(replies, name, partly) end
end

for i = 1, #page, 2 do
  local member, score = page[i], tonumber(page[i + 1])
  if set == threads then
    local user, root, mark = string.match(member, '^(%S+) (%d+) ?([nm]?)$')
    if user then
      check_follower(user, tonumber(root), mark, score)
    elseif string.find(member, '^%d+$') then
      check_thread(tonumber(member), score)
    else
      found('unknown', nil, nil, member)
    end
  else
    local letter, rest = string.sub(member, 1, 1), string.sub(member, 2)
    local a, b, c = string.match(rest, '^(%S+) (%S+) ?(%S*)$')
    if letter == 'r' and c ~= '' and tonumber(a) and tonumber(b) then
      check_reply(tonumber(b), tonumber(a), c)
    elseif letter == 'o' and tonumber(b) and tonumber(c) then
      check_reply(tonumber(c), tonumber(b), a)
    elseif letter == 'i' and c ~= '' and tonumber(a) and tonumber(b) then
      check_reply(tonumber(a), tonumber(b), c)
    elseif letter == 'l' and c == '' and tonumber(a) and tonumber(b) then
      if tonumber(redis.call('ZSCORE', threads, int(tonumber(b))) or -1) ~= tonumber(a) then found('listed', tonumber(a), tonumber(b), member) end
    elseif (letter == 'f' and tonumber(b) or letter == 't' and tonumber(a)) and c == '' then
      local user, root = a, tonumber(b)
      if letter == 't' then user, root = b, tonumber(a) end
      ask(threads, user .. ' ' .. int(root), function() found('partly', nil, root, user) end)
    else
      found('unknown', nil, nil, member)
    end
  end
end
for key, list in pairs(asked) do
  for first = 1, #list, 500 do
    local names = {}
    for i = first, math.min(first + 499, #list) do names[#names + 1] = list[i][1] end
    local scores = redis.call('ZMSCORE', key, unpack(names))
    for i = 1, #names do
      if not scores[i] then list[first + i - 1][2]() end
    end
  end
end
return {'OK', #page == 2 * limit and from + limit or 0, redis.call('HEXISTS', meta, 'threads'), unpack(out)}
