-- include: base
-- needs: meta
-- webhook_behind parses which webhooks are behind in a group, from the result of webhook_position: their names in
-- order, and by name the id at which each fell behind, and the id up to which it has its events.
local function webhook_behind(text)
  local behind = {names = {}, since = {}, at = {}}
  for name, since, at in string.gmatch(text, ' ([^: ]+):(%d+):(%d+)') do
    behind.names[#behind.names + 1] = name
    behind.since[name], behind.at[name] = since, tonumber(at)
  end
  return behind
end

-- webhook_write_behind stores it again. A webhook without a position has caught up.
local function webhook_write_behind(generation, behind)
  local parts = {generation}
  for _, name in ipairs(behind.names) do
    local at = behind.at[name]
    if at then parts[#parts + 1] = name .. ':' .. behind.since[name] .. ':' .. int(at) end
  end
  if #parts == 1 then
    redis.call('HDEL', meta, 'behind')
  else
    redis.call('HSET', meta, 'behind', table.concat(parts, ' '))
  end
end
