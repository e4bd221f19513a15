-- Lists the keys of limits of which tasks have slots, a page at a time. Writes nothing.
--
-- KEYS  queue:work
-- ARGV  page:int ids_max:int cursor after
--   page     keys, at most
--   ids_max  ids of each key that have slots, and of those that wait, at most
--   cursor   of HSCAN; after: the last key of the page before, if the keys of this cursor were too
--            many for it; '' = none was
--
-- Returns {cursor, after, key, held, waiting, since_us, holders, waiters, key, ...}
--   cursor, after  where the next page begins; '0' and '' = nothing is left
--   held      how many tasks have slots; waiting: how many are parked
--   since_us  since when the first of them is parked; '0' = none is
--   holders   ids of those that have slots, in the order in which they got them; waiters: of those
--             that are parked, longest parked first
-- Errors: none of its own.
-- bind: work at queue
-- include: common
local reply, left = {cursor, after}, page

-- append appends what there is to say of a key.
local function append(key, value)
  local view, waiting, since_us, waiters = limit_read(value), 0, '0', {}
  local from, to = '[' .. key .. '\n', '(' .. key .. '\11'
  if view.waits then
    waiting = redis.call('ZLEXCOUNT', lines, from, to)
    for i, member in ipairs(redis.call('ZRANGEBYLEX', lines, from, to, 'LIMIT', 0, ids_max)) do
      if i == 1 then since_us = string.sub(member, #key + 2, #key + 17) end
      waiters[i] = string.sub(member, #key + 18)
    end
  end
  local n, holders = #reply, {}
  for i = 1, math.min(#view.ids, ids_max) do holders[i] = view.ids[i] end
  reply[n + 1], reply[n + 2], reply[n + 3], reply[n + 4], reply[n + 5], reply[n + 6] =
    key, #view.ids, waiting, since_us, holders, waiters
end

-- The keys of one cursor may be more than a page: then they are listed in their order. How many there are must not depend
-- on the page: with more of them, some might be in front of the last one listed.
repeat
  local found = redis.call('HSCAN', slots, reply[1], 'COUNT', 10)
  local keys, values = {}, {}
  for i = 1, #found[2], 2 do
    local key = found[2][i]
    if key > reply[2] and key ~= limit_mark then keys[#keys + 1], values[key] = key, found[2][i + 1] end
  end
  table.sort(keys)
  for i = 1, math.min(left, #keys) do append(keys[i], values[keys[i]]) end
  if #keys > left then
    reply[2] = keys[left]
    break
  end
  left = left - #keys
  reply[1], reply[2] = found[1], ''
until left == 0 or reply[1] == '0'
return reply
