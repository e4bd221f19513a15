-- needs: last_id seen meta files_named
-- bytes_behind is how many bytes of files the messages above id name. total is what all messages of the group have named so far.
local function bytes_behind(total, id)
  if total == 0 then return 0 end
  local next = redis.call('ZRANGEBYSCORE', files_named, '(' .. id, '+inf', 'LIMIT', 0, 1)[1]
  return next and total - tonumber(string.match(next, '(%d+) %d+$')) or 0
end

-- behind_from tells from where on members hold back trimming, or may have a send refused: whether one so far behind does, and the
-- lowest id that they may have seen. Members who are passed by hold back nothing. In a group that passes nobody by, any byte may be
-- one too many for the next upload.
local function behind_from(last, keep, backlog_max, overflow)
  local blocks = overflow == 'block'
  local most = blocks and math.min(keep, backlog_max - 1) or keep
  return function(behind, bytes) return behind > most or blocks and bytes > 0 end, blocks and '-inf' or int(last - backlog_max)
end

-- lowest_seen returns the lowest id from low on up to which a member has seen everything; nil if there is no member so far.
local function lowest_seen(low)
  local slowest = redis.call('ZRANGEBYSCORE', seen, low, '+inf', 'WITHSCORES', 'LIMIT', 0, 2)
  return slowest[1] == '$archive' and slowest[4] or slowest[1] ~= '$archive' and slowest[2] or nil
end

-- blockers lists the members who have seen at least low, the slowest first: user, entries behind and bytes of files behind of
-- each. It ends at max members, or at the first for whom enough(behind, bytes) is false: everyone after is further ahead.
local function blockers(last, total, low, except, max, enough)
  local found, slowest = {}, redis.call('ZRANGEBYSCORE', seen, low, '+inf', 'WITHSCORES', 'LIMIT', 0, int(max + 2))
  for i = 1, #slowest, 2 do
    local user = slowest[i]
    if user ~= '$archive' and user ~= except then
      local behind, bytes = last - tonumber(slowest[i + 1]), bytes_behind(total, slowest[i + 1])
      if #found == 3 * max or not enough(behind, bytes) then break end
      found[#found + 1], found[#found + 2], found[#found + 3] = user, int(behind), int(bytes)
    end
  end
  return found
end

-- refuse_blocked refuses to add bytes of files to a group that passes nobody by, if others than the sender are too far behind;
-- nil: go on. A file larger than backlog_bytes is let through once everyone has seen those before it.
local function refuse_blocked(from, backlog_max, backlog_bytes, bytes_added)
  local total = tonumber(redis.call('HGET', meta, 'named_bytes') or 0)
  local last = tonumber(redis.call('GET', last_id))
  local found = blockers(last, total, '-inf', from, 10, function(behind, bytes)
    return behind >= backlog_max or bytes >= backlog_bytes or bytes > 0 and bytes + bytes_added > backlog_bytes
  end)
  if #found > 0 then return {'BLOCKED', unpack(found)} end
  return nil
end
