-- include: task_file
-- needs: msgs files_named
-- enqueue_file_trimmed removes the files that only messages below the beginning of the log name. With an archive they stay.
local function enqueue_file_trimmed(id, last, archived_from, now_ms)
  if archived_from then return end
  local first = last - redis.call('ZCARD', msgs) + 1
  if not redis.call('ZRANGEBYSCORE', files_named, '-inf', int(first - 1), 'LIMIT', 0, 1)[1] then return end
  enqueue_file_trim(id, now_ms)
end
