-- Checks members of a group in the order of joining: each has cursors within the log, and a role that fits. Only reads.
--
-- KEYS  last_id members joined managers seen read
-- ARGV  after limit:int
--   after  id of joining to continue after
-- Returns {OK, id to continue after or 0, users: name and id of joining of each, what is wrong: what, user, and a text of each}
-- include: base
local last = tonumber(redis.call('GET', last_id) or 0)
local page = redis.call('ZRANGEBYSCORE', joined, '(' .. after, '+inf', 'WITHSCORES', 'LIMIT', 0, limit)
local users, wrong = {}, {}
for i = 1, #page, 2 do users[#users + 1] = page[i] end
if #users == 0 then return {'OK', 0, {}, {}} end
local roles, as_manager = redis.call('HMGET', members, unpack(users)), redis.call('ZMSCORE', managers, unpack(users))
local acked, was_read = redis.call('ZMSCORE', seen, unpack(users)), redis.call('ZMSCORE', read, unpack(users))
for i, user in ipairs(users) do
  local function found(what, text)
    wrong[#wrong + 1], wrong[#wrong + 2], wrong[#wrong + 3] = what, user, text
  end
  local joined_id = page[2 * i]
  local role = roles[i] and string.match(roles[i], '^(%S+) %d+$')
  local s, r = acked[i] and tonumber(acked[i]), was_read[i] and tonumber(was_read[i])
  if not roles[i] then
    found('joined', 'is in joined, but not a member')
  elseif role ~= 'owner' and role ~= 'admin' and role ~= 'member' then
    found('role', 'has a role that cannot be read')
  else
    local manages = role ~= 'member'
    if manages and as_manager[i] ~= joined_id then found('manager', 'has the role ' .. role .. ', but is not in managers') end
    if not manages and as_manager[i] then found('manager', 'is in managers, but an ordinary member') end
    if not s then found('seen', 'has no seen cursor') end
    if not r then found('read', 'has no read cursor') end
  end
  if s and (s < 0 or s > last) then found('seen', 'has seen up to ' .. int(s) .. ', but the log ends at ' .. int(last)) end
  if s and r and r > s then found('read', 'has read up to ' .. int(r) .. ', but only seen up to ' .. int(s)) end
  if tonumber(joined_id) > last then found('joined', 'joined with message ' .. joined_id .. ', but the log ends at ' .. int(last)) end
end
local named = {}
for i = 1, #page do named[i] = page[i] end
return {'OK', #users == limit and page[#page] or 0, named, wrong}
