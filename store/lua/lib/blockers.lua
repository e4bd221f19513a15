-- needs: last_id seen
-- blockers lists who has seen no less than low, the slowest first, as {user, entries behind, bytes of files behind} of each,
-- one after the other. It ends at max members, or at the first for whom enough(behind, bytes) is false: everyone after is further ahead.
local function blockers(last, low, except, max, enough)
  local found, slowest = {}, redis.call('ZRANGEBYSCORE', seen, low, '+inf', 'WITHSCORES', 'LIMIT', 0, int(max + 2))
  for i = 1, #slowest, 2 do
    local user, behind = slowest[i], last - tonumber(slowest[i + 1])
    local bytes = 0 -- messages carry no files
    if user ~= '$archive' and user ~= except then
      if #found == 3 * max or not enough(behind, bytes) then break end
      found[#found + 1], found[#found + 2], found[#found + 3] = user, int(behind), int(bytes)
    end
  end
  return found
end

-- refuse_blocked refuses a send to a group that passes nobody by, where others than the sender are too far behind; nil: go on.
local function refuse_blocked(from, backlog_max, backlog_bytes)
  local found = blockers(tonumber(redis.call('GET', last_id)), '-inf', from, 10, function(behind, bytes)
    return behind >= backlog_max or bytes >= backlog_bytes
  end)
  if #found > 0 then return {'BLOCKED', unpack(found)} end
  return nil
end
