-- Lists the tasks of one state, a page at a time. Writes nothing.
--
-- KEYS  queue:work
-- ARGV  state limit:int anchor
--   state   delayed: soonest first; ready: in the order of their lists, highest priority
--           first; leased: whose lease ends first; parked: longest parked first; dead: newest
--           first
--   limit   tasks of a page
--   anchor  where the page before ended; '' = the first page
--
-- Returns {anchor, id, time_ms, spec, run, id, ...}: the anchor of the next page, '' after the
-- last one; the rest as in show.lua.
-- A task that stays in its state while pages are read is on exactly one of them, except that
-- tasks given back to the head of a list may be missed.
-- Errors: none of its own.
-- bind: work at queue
-- include: common
-- include: page
local ids, times, last = {}, {}, ''

local function page_of_set(key, newest_first)
  local from = anchor ~= '' and page_after(key, newest_first, anchor) or 0
  local range = newest_first and 'ZREVRANGE' or 'ZRANGE'
  local page = redis.call(range, key, from, from + limit - 1, 'WITHSCORES')
  for i = 1, #page, 2 do
    ids[#ids + 1], times[#times + 1] = string.match(page[i], '^%S+'), page[i + 1]
  end
  if #page == 2 * limit then last = page[#page] .. ' ' .. page[#page - 1] end
end

-- Tasks leave a list at its head, so the task at a position is still there or nearer to the head, or it has left, and
-- then so has everything before it.
local function page_of_lists()
  local p, from = 1, 0
  if anchor ~= '' then
    local position, id
    p, position, id = string.match(anchor, '^(%d) (%d+) (.*)$')
    p = tonumber(p)
    from = redis.call('LPOS', lists[task_priorities[p]], id, 'MAXLEN', tonumber(position) + 1000)
    from = from and from + 1 or 0
  end
  while p <= 4 do
    local page = redis.call('LRANGE', lists[task_priorities[p]], from, from + limit - #ids - 1)
    for _, id in ipairs(page) do ids[#ids + 1], times[#times + 1] = id, '0' end
    if #ids == limit then
      last = string.format('%d %d %s', p, from + #page - 1, ids[limit])
      return
    end
    p, from = p + 1, 0
  end
end

if state == 'ready' then
  page_of_lists()
else
  page_of_set(state == 'delayed' and delayed or state == 'leased' and leased or state == 'parked' and parked or dead, state == 'dead')
  if state == 'parked' then
    for i, us in ipairs(times) do times[i] = string.format('%.0f', math.floor(tonumber(us) / 1000)) end
  end
end
local reply = {last}
if #ids == 0 then return reply end
local specs, state_of = redis.call('HMGET', tasks, unpack(ids)), redis.call('HMGET', runs, unpack(ids))
for i, id in ipairs(ids) do
  if specs[i] then
    local n = #reply
    reply[n + 1], reply[n + 2], reply[n + 3], reply[n + 4] = id, times[i], specs[i], state_of[i] or ''
  end
end
return reply
