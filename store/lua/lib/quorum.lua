-- include: base
-- include: task_quorum
-- needs: meta joined read msgs quorums core group
-- Of an open quorum, read is how many of those who joined up to `counted` have read the message: it is counted once, in steps, and then
-- moves with each of them. So no step walks the members, however many there are, and an ack looks at what it moves past.
local quorum_words = {'state', 'kind', 'number', 'users', 'author', 'by', 'at_ms', 'ends_ms', 'remind', 'escalate', 'done', 'decided_ms', 'of',
  'read', 'announced', 'counted', 'after'}

-- quorum_of reads a quorum as it is stored, and quorum_text is the other way round.
local function quorum_of(text)
  local q, n = {}, 0
  for word in string.gmatch(text, '%S+') do
    n = n + 1
    q[quorum_words[n]] = word
  end
  return q
end
local function quorum_text(q)
  local words = {}
  for i, name in ipairs(quorum_words) do words[i] = q[name] end
  return table.concat(words, ' ')
end

local function quorum_users(q)
  local users = {}
  for user in string.gmatch(q.users, '[^,]+') do users[#users + 1] = user end
  return users
end

-- quorum_need counts who has to read a message, and how many are needed: members who joined before it, without its author.
local function quorum_need(id, q)
  local of, at = 0, redis.call('ZSCORE', joined, q.author)
  if q.kind == 'users' then
    for _, score in ipairs(redis.call('ZMSCORE', joined, unpack(quorum_users(q)))) do
      if score and tonumber(score) < tonumber(id) then of = of + 1 end
    end
    return of, math.max(1, of)
  end
  of = redis.call('ZCOUNT', joined, '-inf', '(' .. id)
  if at and tonumber(at) < tonumber(id) then of = of - 1 end
  return of, q.kind == 'percent' and math.max(1, math.ceil(of * tonumber(q.number) / 100)) or tonumber(q.number)
end

-- quorum_has tells whether a quorum has counted a member who joined at an id; false: no member.
local function quorum_has(id, q, user, at)
  if not at or tonumber(at) >= tonumber(id) or tonumber(at) > tonumber(q.counted) or user == q.author then return false end
  return q.kind ~= 'users' or string.find(',' .. q.users .. ',', ',' .. user .. ',', 1, true) ~= nil
end

-- quorum_count goes on with counting who has read: about 500 members.
local function quorum_count(id, q)
  local names, to, n = {}, id, tonumber(q.read)
  if q.kind == 'users' then
    names = quorum_users(q)
  else
    names = redis.call('ZRANGEBYSCORE', read, id, '+inf', 'LIMIT', 0, 501)
    if #names <= 500 then
      n = 0 -- they are all who have read
    else
      local some, last = redis.call('ZRANGEBYSCORE', joined, '(' .. q.counted, '(' .. id, 'WITHSCORES', 'LIMIT', 0, 600), nil
      -- Up to 100 share an id, and are counted in one step.
      if #some == 1200 then last = some[1200] end
      names = {}
      for i = 1, #some, 2 do
        if some[i + 1] ~= last then
          names[#names + 1] = some[i]
          if last then to = some[i + 1] end
        end
      end
    end
  end
  q.counted = to
  if #names > 0 then
    local at, have = redis.call('ZMSCORE', joined, unpack(names)), redis.call('ZMSCORE', read, unpack(names))
    for i, user in ipairs(names) do
      if have[i] and tonumber(have[i]) >= tonumber(id) and quorum_has(id, q, user, at[i]) then n = n + 1 end
    end
  end
  q.read = int(n)
end

-- quorum_whole tells whether all are counted.
local function quorum_whole(id, q) return tonumber(q.counted) >= tonumber(id) end

-- quorum_end ends an open quorum: webhooks and those who asked hear of it by the task.
local function quorum_end(id, q, state, of, now_ms)
  q.state, q.decided_ms, q.of = state, int(now_ms), int(of)
  redis.call('HSET', quorums, id, quorum_text(q))
  if redis.call('HINCRBY', meta, 'quorums', -1) <= 0 then redis.call('HDEL', meta, 'quorums') end
  enqueue_quorum(string.match(meta, '{(p%d+)}') .. '-quorum:' .. group .. ':' .. id .. ':' .. q.at_ms .. ':end', redis.call('HGET', meta, 'epoch'),
    id, 0, now_ms)
end

-- quorum_settle decides an open quorum if it can be decided now, and returns who has to read.
local function quorum_settle(id, q, now_ms)
  local of, needed = quorum_need(id, q)
  local stored, expired = redis.call('ZRANGEBYSCORE', msgs, id, id)[1], redis.call('HGET', meta, 'expired')
  if expired and tonumber(expired) >= tonumber(id) or stored and string.match(stored, '^%d+ %S+ x ') then
    quorum_end(id, q, 'cancelled', of, now_ms)
  elseif tonumber(q.read) >= needed then
    quorum_end(id, q, 'met', of, now_ms)
  elseif now_ms >= tonumber(q.ends_ms) and quorum_whole(id, q) then
    quorum_end(id, q, 'missed', of, now_ms)
  end
  return of
end

-- quorum_over ends a quorum whose end has passed before something else is counted: what comes later makes it neither met nor missed.
local function quorum_over(id, q, now_ms)
  if now_ms < tonumber(q.ends_ms) then return false end
  if quorum_whole(id, q) then quorum_settle(id, q, now_ms) end
  return true
end

-- quorum_moved notes that a member's read has moved from one id to another.
local function quorum_moved(user, from, to)
  local all, at, now_ms = redis.call('HGETALL', quorums), redis.call('ZSCORE', joined, user), clock_ms()
  local low, high, step = math.min(from, to), math.max(from, to), from < to and 1 or -1
  for i = 1, #all, 2 do
    local id = all[i]
    if tonumber(id) > low and tonumber(id) <= high and string.sub(all[i + 1], 1, 5) == 'open ' then
      local q = quorum_of(all[i + 1])
      if not quorum_over(id, q, now_ms) and quorum_has(id, q, user, at) then
        q.read = int(tonumber(q.read) + step)
        quorum_settle(id, q, now_ms)
        if q.state == 'open' then redis.call('HSET', quorums, id, quorum_text(q)) end
      end
    end
  end
end

-- quorum_left notes that members leave, just before they do.
local function quorum_left(users)
  local at, have = redis.call('ZMSCORE', joined, unpack(users)), redis.call('ZMSCORE', read, unpack(users))
  local all, now_ms = redis.call('HGETALL', quorums), clock_ms()
  for i = 1, #all, 2 do
    local id, q = all[i], string.sub(all[i + 1], 1, 5) == 'open ' and quorum_of(all[i + 1])
    if q and quorum_over(id, q, now_ms) then all[i + 1] = '' end
  end
  redis.call('ZREM', joined, unpack(users))
  for i = 1, #all, 2 do
    local id, q = all[i], string.sub(all[i + 1], 1, 5) == 'open ' and quorum_of(all[i + 1])
    if q then
      for n, user in ipairs(users) do
        if have[n] and tonumber(have[n]) >= tonumber(id) and quorum_has(id, q, user, at[n]) then q.read = int(tonumber(q.read) - 1) end
      end
      quorum_settle(id, q, now_ms)
      if q.state == 'open' then redis.call('HSET', quorums, id, quorum_text(q)) end
    end
  end
end

-- quorum_gone cancels the open quorum of a message that was deleted.
local function quorum_gone(id)
  local text = redis.call('HGET', quorums, id)
  if not text or string.sub(text, 1, 5) ~= 'open ' then return end
  local q = quorum_of(text)
  quorum_end(id, q, 'cancelled', (quorum_need(id, q)), clock_ms())
end
