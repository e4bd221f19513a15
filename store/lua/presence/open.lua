-- Records which users of a node have a group open, that the node is alive, and removes at most 500 entries of dead nodes. Members of here
-- are `<node> <user>`, all of score 0. Other nodes hear of a change.
--
-- KEYS  meta here nodes
-- ARGV  node channel lasts_ms:int came:int users...
--   lasts_ms  how long a heartbeat counts
--   came      how many of users have opened it; the others have closed it
--   users     at most 500
-- Returns {OK, how many users have it open, users...}, five at most. Up to 500 are counted each once; with more, a user with sessions on
-- two nodes counts twice
-- include: base
if redis.call('EXISTS', meta) == 0 then
  redis.call('UNLINK', here)
  return {'OK', 0}
end
local now_ms = clock_ms()
redis.call('ZADD', nodes, int(now_ms + lasts_ms), node)
local changed = 0
for i = users, #ARGV do
  local entry = node .. ' ' .. ARGV[i]
  if i < users + came then
    changed = changed + redis.call('ZADD', here, 0, entry)
  else
    changed = changed + redis.call('ZREM', here, entry)
  end
end
local alive, known = {}, {}
for _, each in ipairs(redis.call('ZRANGEBYSCORE', nodes, '(' .. int(now_ms), '+inf')) do alive[each] = true end
local first, count, shown = redis.call('ZRANGE', here, 0, 500), 0, {}
if #first <= 500 then
  local dead = {}
  for _, entry in ipairs(first) do
    local at, user = string.match(entry, '^(%S+) (%S+)$')
    if not alive[at] then
      dead[#dead + 1] = entry
    elseif not known[user] then
      known[user] = true
      shown[#shown + 1] = user
    end
  end
  count = #shown
  if #dead > 0 then changed = changed + redis.call('ZREM', here, unpack(dead)) end
else
  local from, left = '-', 500
  while true do
    local entry = redis.call('ZRANGEBYLEX', here, from, '+', 'LIMIT', 0, 1)[1]
    if not entry then break end
    local at = string.match(entry, '^%S+')
    if alive[at] then
      count = count + redis.call('ZLEXCOUNT', here, '[' .. at .. ' ', '(' .. at .. '!')
      if #shown < 5 then
        for _, one in ipairs(redis.call('ZRANGEBYLEX', here, '[' .. at .. ' ', '(' .. at .. '!', 'LIMIT', 0, 5)) do
          local user = string.match(one, '%S+$')
          if not known[user] then known[user], shown[#shown + 1] = true, user end
        end
      end
    elseif left > 0 then
      local gone = redis.call('ZRANGEBYLEX', here, '[' .. at .. ' ', '(' .. at .. '!', 'LIMIT', 0, left)
      left = left - #gone
      changed = changed + redis.call('ZREM', here, unpack(gone))
    end
    from = '[' .. at .. '!'
  end
end
if changed > 0 then redis.call(PUBLISH, channel, 'h ' .. node) end
table.sort(shown)
local reply = {'OK', count}
for i = 1, math.min(#shown, 5) do reply[#reply + 1] = shown[i] end
return reply
