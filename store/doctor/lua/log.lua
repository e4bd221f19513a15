-- Checks stored messages of a group after an id: ids are dense, each is the score of its message, and skip holds exactly the
-- entries that do not count as unread: those that are no messages, and replies in threads, which replies has. It stops after limit
-- messages, or once it has read 256 kB. Only reads.
--
-- KEYS  last_id meta msgs skip expires threads replies
-- ARGV  after:int limit:int
-- Returns {OK, id to continue after or 0, what is wrong: what, id, and a text of each, number of notices of changed settings}
-- include: in_thread
-- include: reply_names
-- include: thread_root
local last = tonumber(redis.call('GET', last_id) or 0)
local backlog_max, pruned = unpack(redis.call('HMGET', meta, 'backlog_max', 'floor'))
local floor = math.max(last - tonumber(backlog_max or 0), tonumber(pruned or 0))
local wrong = {}
local function found(what, id, text)
  wrong[#wrong + 1], wrong[#wrong + 2], wrong[#wrong + 3] = what, int(id), text
end

local seen_count, bytes, before = 0, 0, after > 0 and after or nil
local ids, kinds, page, changes = {}, {}, nil, 0
local ending, ends = {}, {}
local lowest, counted, roots, rootless = nil, {}, {}, {}
repeat
  page = redis.call('ZRANGEBYSCORE', msgs, '(' .. int(before or 0), '+inf', 'WITHSCORES', 'LIMIT', 0, 16)
  if #page > 0 and seen_count == 0 and before then
    -- What was trimmed since the last page is not a hole.
    local first = tonumber(redis.call('ZRANGE', msgs, 0, 0, 'WITHSCORES')[2])
    if first > before + 1 then before = first - 1 end
  end
  for i = 1, #page, 2 do
    local id, edits = string.match(page[i], '^(%d+) %S+ (%S+) {')
    local score = tonumber(page[i + 1])
    if not id then
      found('entry', score, 'cannot be read')
    elseif tonumber(id) ~= score then
      found('score', score, 'holds message ' .. id)
    end
    local goes = string.match(string.sub(page[i], -64), ',"expires_at":"([^"]+)"}$')
    if goes and edits ~= 'x' then ending[#ending + 1], ends[#ends + 1] = page[i + 1], goes end
    if edits == 'x' and string.find(page[i], '"notice":"settings"', 1, true) then changes = changes + 1 end
    if before and score > before + 1 then found('hole', before + 1, 'up to ' .. int(score - 1)) end
    if before and score == before then found('twice', score, 'two messages') end
    lowest = lowest or score
    local author, root = string.match(page[i], '^%d+ %S+ [^x ]+ {"id":%d+,"group":"[^"]*","from":"([^"]*)","kind":"%a+","thread":(%d+)')
    if id and root then counted[select(3, reply_names(id, root, author))], roots[#roots + 1] = int(score), root end
    if id and not thread_root(page[i]) then rootless[#rootless + 1] = page[i + 1] end
    before, bytes, seen_count = score, bytes + #page[i], seen_count + 1
    if id and score > floor then
      local uncounted = edits == 'x' or string.find(page[i], in_thread)
      ids[#ids + 1], kinds[#kinds + 1] = page[i + 1], uncounted and 'x' or edits
    end
  end
until #page < 32 or seen_count >= limit or bytes > 262144
if #ids > 0 then
  for i, skipped in ipairs(redis.call('ZMSCORE', skip, unpack(ids))) do
    if kinds[i] == 'x' and not skipped then found('counted', tonumber(ids[i]), 'counts as unread, but is no message of the group itself') end
    if kinds[i] ~= 'x' and skipped then found('skipped', tonumber(ids[i]), 'is a message, but does not count as unread') end
  end
end
if #ending > 0 then
  for i, known in ipairs(redis.call('ZMSCORE', expires, unpack(ending))) do
    if not known then found('endless', tonumber(ending[i]), ends[i]) end
  end
end
if lowest and (#roots > 0 or redis.call('EXISTS', threads, replies) > 0) then
  -- Of very many, the oldest are dropped.
  local oldest = redis.call('ZLEXCOUNT', replies, '[i', '(j') > 50000 and redis.call('ZRANGEBYLEX', replies, '[i', '(j', 'LIMIT', 0, 1)[1]
  for _, name in ipairs(redis.call('ZRANGEBYLEX', replies, '[i' .. padded(lowest), '(i' .. padded(before + 1))) do
    if not counted[name] then found('none', tonumber(string.sub(name, 2, 17)), '') end
    counted[name] = nil
  end
  for name, id in pairs(counted) do
    if not oldest or name > oldest then found('uncounted', tonumber(id), '') end
  end
  for i, newest in ipairs(#roots > 0 and redis.call('ZMSCORE', threads, unpack(roots)) or {}) do
    local stored = not newest and redis.call('ZRANGEBYSCORE', msgs, roots[i], roots[i])[1]
    if stored and thread_root(stored) then found('rootless', tonumber(roots[i]), '') end
  end
  for i, newest in ipairs(#rootless > 0 and redis.call('ZMSCORE', threads, unpack(rootless)) or {}) do
    if newest then found('ended', tonumber(rootless[i]), '') end
  end
end
return {'OK', #page == 32 and int(before) or 0, wrong, changes}
