-- include: base
-- needs: named unused_files
-- file_unname takes away what a deleted message names, at once for readers; a task removes the files that nothing else names.
local function file_unname(target, now_ms)
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', named, target, target)) do
    redis.call('ZREM', named, member)
    redis.call('ZADD', unused_files, int(now_ms), string.match(member, '^%d+ (%S+)'))
  end
end
