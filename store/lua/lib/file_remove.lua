-- include: file_record
-- include: task_file
-- needs: meta files_unused files_of core group
-- file_remove removes the record of a file. A task removes the bytes after it, and frees the quota of the owner.
local function file_remove(id, f, now_ms)
  redis.call('HDEL', files, id)
  redis.call('ZREM', files_unused, id)
  redis.call('HDEL', files_of, id)
  redis.call('HINCRBY', meta, 'file_bytes', int(-file_counted(f)))
  enqueue_file_removed(id, f.owner, now_ms)
end
