-- include: base
-- include: task_quorum
-- needs: meta joined read msgs quorums core group
local quorum_words = {'state', 'kind', 'number', 'users', 'author', 'by', 'at_ms', 'ends_ms', 'remind', 'escalate', 'done', 'decided_ms', 'of',
  'read', 'announced'}

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

-- quorum_count counts who has to read message m, who of them has, and how many are needed: members who joined before it, without its
-- author. Unless exactly is set, late members are not taken out where there are too few readers even with them.
local function quorum_count(q, m, exactly)
  if q.kind == 'users' then
    local of, done = 0, 0
    for user in string.gmatch(q.users, '[^,]+') do
      local at = redis.call('ZSCORE', joined, user)
      if at and tonumber(at) < m and user ~= q.author then
        of = of + 1
        if tonumber(redis.call('ZSCORE', read, user) or 0) >= m then done = done + 1 end
      end
    end
    return of, done, math.max(1, of)
  end
  local of, done = redis.call('ZCOUNT', joined, '-inf', '(' .. int(m)), redis.call('ZCOUNT', read, int(m), '+inf')
  local at = redis.call('ZSCORE', joined, q.author)
  if at and tonumber(at) < m then of = of - 1 end
  if tonumber(redis.call('ZSCORE', read, q.author) or 0) >= m then done = done - 1 end
  local needed = q.kind == 'percent' and math.max(1, math.ceil(of * tonumber(q.number) / 100)) or tonumber(q.number)
  local late = redis.call('ZCOUNT', joined, '(' .. int(m), '+inf')
  if late == 0 or done < needed and not exactly then return of, done, needed end
  -- The smaller one of two sets is walked: those who came later, or those who have read.
  local walked, other, wanted = joined, read, function(score) return score and tonumber(score) >= m end
  if done < late then walked, other, wanted = read, joined, function(score) return score and tonumber(score) > m end end
  local from = 0
  while true do
    local some = redis.call('ZRANGEBYSCORE', walked, '(' .. int(walked == read and m - 1 or m), '+inf', 'LIMIT', from, 1000)
    if #some == 0 then break end
    for i, score in ipairs(redis.call('ZMSCORE', other, unpack(some))) do
      if some[i] ~= q.author and wanted(score) then done = done - 1 end
    end
    from = from + #some
  end
  return of, done, needed
end

-- quorum_end ends an open quorum: webhooks and those who asked hear of it by the task.
local function quorum_end(id, q, state, of, done, now_ms)
  q.state, q.decided_ms, q.of, q.read = state, int(now_ms), int(of), int(done)
  redis.call('HSET', quorums, id, quorum_text(q))
  if redis.call('HINCRBY', meta, 'quorums', -1) <= 0 then redis.call('HDEL', meta, 'quorums') end
  enqueue_quorum(string.match(meta, '{(p%d+)}') .. '-quorum:' .. group .. ':' .. id .. ':' .. q.at_ms .. ':end', redis.call('HGET', meta, 'epoch'),
    id, 0, now_ms)
end

-- quorum_settle decides an open quorum if it can be decided now, and returns who has to read and who has. After its end no read makes
-- it met: by_read says that one may just have.
local function quorum_settle(id, q, by_read)
  local m, now_ms = tonumber(id), clock_ms()
  local of, done, needed = quorum_count(q, m, not by_read)
  local stored, expired = redis.call('ZRANGEBYSCORE', msgs, id, id)[1], redis.call('HGET', meta, 'expired')
  local ended = now_ms >= tonumber(q.ends_ms)
  if expired and tonumber(expired) >= m or stored and string.match(stored, '^%d+ %S+ x ') then
    quorum_end(id, q, 'cancelled', of, done, now_ms)
  elseif done >= needed and not (by_read and ended) then
    quorum_end(id, q, 'met', of, done, now_ms)
  elseif ended then
    quorum_end(id, q, 'missed', of, done, now_ms)
  end
  return of, done
end

-- quorum_each settles all open quorums of messages up to one; nil: all.
local function quorum_each(up_to, by_read)
  local all = redis.call('HGETALL', quorums)
  for i = 1, #all, 2 do
    if string.sub(all[i + 1], 1, 5) == 'open ' and (not up_to or tonumber(all[i]) <= up_to) then
      quorum_settle(all[i], quorum_of(all[i + 1]), by_read)
    end
  end
end

-- quorum_gone cancels the open quorum of a message that was deleted.
local function quorum_gone(id)
  local text = redis.call('HGET', quorums, id)
  if not text or string.sub(text, 1, 5) ~= 'open ' then return end
  local q = quorum_of(text)
  local of, done = quorum_count(q, tonumber(id), true)
  quorum_end(id, q, 'cancelled', of, done, clock_ms())
end
