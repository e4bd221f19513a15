-- Tells the state of users, from their sessions on all live nodes: online where they are so on any. Only reads.
--
-- KEYS  nodes present
-- ARGV  users...
--   users  at most 500
-- Returns {OK, state, since_ms...}, two for each user; '', 0 for one who is offline or hides
-- include: base
local names, states, since = {}, {}, {}
for i = users, #ARGV do names[#names + 1] = ARGV[i] end
for _, node in ipairs(redis.call('ZRANGEBYSCORE', nodes, '(' .. int(clock_ms()), '+inf')) do
  local entries = {}
  for i, name in ipairs(names) do entries[i] = node .. ' ' .. name end
  for i, found in ipairs(redis.call('HMGET', present, unpack(entries))) do
    if found then
      local at, state = string.match(found, '^(%d+) (%a+)$')
      at = tonumber(at)
      if state == states[i] then
        since[i] = math.min(since[i], at)
      elseif states[i] ~= 'online' then
        states[i], since[i] = state, at
      end
    end
  end
end
local reply = {'OK'}
for i in ipairs(names) do
  reply[#reply + 1] = states[i] or ''
  reply[#reply + 1] = int(since[i] or 0)
end
return reply
