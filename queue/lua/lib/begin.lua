-- Of step.lua: claimed tasks of which some have options. It drops the specifications of those whose limit or rate does not
-- let them begin; they wait elsewhere then.
-- include: limit_mark
-- needs: ids specs left slots tasks delayed now_ms
local match, sub = string.match, string.sub
local limit_alone = '\rlimit 1 0 wait '

-- The keys of the n tasks with limits and no other option, and each key and the id of its task; others tells whether
-- more tasks have a limit or a rate. Mostly a limit is the only option, and says no more than that tasks wait for each
-- other: a comparison takes two thirds of the time of a pattern.
local names, taken, n, others = {}, {}, 0, false
for j = 1, #ids do
  local spec = specs[j]
  local from = spec and find(spec, '\r', 1, true)
  local to = from and find(spec, '\n', 1, true)
  if to and from < to then
    local key_at, key, after = from + #limit_alone, nil, nil
    if sub(spec, from, key_at - 1) == limit_alone and to > key_at then
      key = sub(spec, key_at, to - 1)
      after = not find(key, '\r', 1, true) and to
    else
      key, after = match(spec, '^\rlimit %d+ [01] %S+ ([^\r\n]+)()', from)
    end
    if after == to then
      n = n + 1
      names[n], taken[2 * n - 1], taken[2 * n] = key, key, ids[j]
    elseif find(sub(spec, from, to), '\rlimit ', 1, true) or find(sub(spec, from, to), '\rrate ', 1, true) then
      others = true
    end
  end
end
-- Mostly nobody has a slot of a key, or it was passed on to the task, and no key comes twice: such a task costs a word of
-- one command and two of another.
local holders, mine, new
if n > 0 and not others then
  holders, mine, new = redis.call('HMGET', slots, limit_mark, unpack(names)), 0, 0
  for j = 1, n do
    local holder = holders[j + 1]
    if holder == taken[2 * j] then
      mine = mine + 1
    elseif holder then
      mine = n + 1
      break
    end
  end
  if not holders[1] or mine > n then new = nil elseif mine < n then new = redis.call('HSET', slots, unpack(taken)) end
end
if others or n > 0 and (not new or mine + new < n) then
  -- include: admit
  admit_all(ids, specs, holders, new)
  if #passed > 0 then left = left + task_slots_pass() end
  task_due_signal(tasks, delayed, soonest_ms, now_ms)
end
