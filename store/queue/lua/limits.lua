-- Lists the keys of limits of which tasks have slots or wait for one, a page at a time, in the
-- order of their bytes. Writes nothing.
--
-- KEYS  queue:work
-- ARGV  page:int ids_max:int after
--   page     keys, at most
--   ids_max  ids of each key that have slots, and of those that wait, at most
--   after    the key that the page before ended with; '' = the first page
--
-- Returns {more, key, held, waiting, since_us, holders, waiters, key, ...}
--   more      1 if keys follow, else 0
--   held      how many tasks have slots; waiting: how many are parked
--   since_us  since when the first of them is parked; '0' = none is
--   holders   ids of those that have slots, in the order of their bytes; waiters: of those that are
--             parked, longest parked first
-- Errors: none of its own.
-- bind: work at queue
-- include: common
local reply, from = {0}, after == '' and '-' or '(' .. after .. '\n2'

-- ids_in returns what follows head in the members of a range, ids_max of them.
local function ids_in(head, first, last)
  local ids = redis.call('ZRANGEBYLEX', slots, first, last, 'LIMIT', 0, ids_max)
  for i, member in ipairs(ids) do ids[i] = string.sub(member, #head + 1) end
  return ids
end

for n = 0, page do
  local first = redis.call('ZRANGEBYLEX', slots, from, '+', 'LIMIT', 0, 1)[1]
  if not first then break end
  if n == page then
    reply[1] = 1
    break
  end
  local key = string.match(first, '^[^\n]*')
  local has, waits, stop = key .. '\n0', key .. '\n1', key .. '\n2'
  local parked_ids, since_us = ids_in(waits, '[' .. waits, '(' .. stop), '0'
  for i, id in ipairs(parked_ids) do
    if i == 1 then since_us = string.sub(id, 1, 16) end
    parked_ids[i] = string.sub(id, 17)
  end
  for _, value in ipairs({key, limit_taken(slots, key), redis.call('ZLEXCOUNT', slots, '[' .. waits, '(' .. stop), since_us,
    ids_in(has, '[' .. has, '(' .. waits), parked_ids}) do
    reply[#reply + 1] = value
  end
  from = '(' .. stop
end
return reply
