-- Of step.lua: claims of tasks with unique keys.
-- include: option
-- include: unique
-- needs: unique expiring now_ms

-- A claim frees the unique key, unless its task keeps it until the end or a time. A younger task may have taken it
-- meanwhile, while this one waited for its retry.
local function unique_free(ids, specs)
  local waiting, owners, free, spans = {}, {}, {}, false
  for i, id in ipairs(ids) do
    local key = specs[i] and not task_holds(specs[i]) and task_unique(specs[i])
    if key and unique_span(specs[i]) then
      spans = true
    elseif key then waiting[#waiting + 1], owners[#owners + 1] = key, id end
  end
  if spans then unique_trim(unique, expiring, now_ms) end
  if #waiting == 0 then return end
  local holders = redis.call('HMGET', unique, unpack(waiting))
  for i, holder in ipairs(holders) do
    if holder == owners[i] then free[#free + 1] = waiting[i] end
  end
  if #free > 0 then redis.call('HDEL', unique, unpack(free)) end
end
