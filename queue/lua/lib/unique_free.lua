-- Of step.lua: claims of tasks with unique keys.
-- include: option
-- include: unique
-- needs: unique expiring now_ms

-- A claim frees the unique key, unless its task keeps it until the end or a time. A younger task may have taken it
-- meanwhile, while this one waited for its retry.
local function unique_free(ids, specs)
  local waiting, owners, free, spans = {}, {}, {}, false
  for i, id in ipairs(ids) do
    local key = specs[i] and task_unique(specs[i])
    local options = key and task_options(specs[i])
    if options and unique_span(options) then
      spans = true
    elseif key and not (options and unique_holds(options)) then
      waiting[#waiting + 1], owners[#owners + 1] = key, id
    end
  end
  if spans then unique_trim(unique, expiring, now_ms) end
  if #waiting == 0 then return end
  local holders = redis.call('HMGET', unique, unpack(waiting))
  for i, holder in ipairs(holders) do
    if holder == owners[i] then free[#free + 1] = waiting[i] end
  end
  if #free > 0 then redis.call('HDEL', unique, unpack(free)) end
end
