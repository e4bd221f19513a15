-- include: base
-- needs: meta files_named files_unused
-- file_unname takes away what a deleted message names, at once for readers; a task removes the files that nothing else names. Later
-- namings then have fewer bytes before them. If that is too much for one step, members who have not seen the deletion stay behind
-- by these bytes until then.
local function file_unname(target, now_ms)
  local found, freed = redis.call('ZRANGEBYSCORE', files_named, target, target), 0
  if #found == 0 then return end
  for _, member in ipairs(found) do
    redis.call('ZREM', files_named, member)
    redis.call('ZADD', files_unused, int(now_ms), string.match(member, '^%d+ (%S+)'))
    freed = freed + tonumber(string.match(member, '%d+$'))
  end
  if redis.call('ZCOUNT', files_named, target, '+inf') > 500 then return end
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', files_named, target, '+inf')) do
    local message, file, before, size = string.match(member, '^(%d+) (%S+) (%d+) (%d+)$')
    redis.call('ZREM', files_named, member)
    redis.call('ZADD', files_named, message, message .. ' ' .. file .. ' ' .. int(tonumber(before) - freed) .. ' ' .. size)
  end
  redis.call('HINCRBY', meta, 'named_bytes', int(-freed))
end
