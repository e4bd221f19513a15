-- Writes the record of an upload that begins. Writing it again changes nothing.
--
-- KEYS  last_id meta members mutes seen files files_unused files_named files_of core:enqueue
-- ARGV  group user file size hash json within_ms:int bytes_max:int task_id
--   hash       state of the digest of no bytes
--   within_ms  after which it expires
--   bytes_max  of all files of the group
-- Returns {OK, the record}
-- Refuses NOTFOUND, FORBIDDEN, MUTED, QUOTA; BLOCKED as lib/append.lua, where a message that names the file would be
-- include: file_poster
-- include: file_record
-- include: task_file
-- include: blockers
local refused = file_poster()
if refused then return refused end
local f = file_read(file)
if f then return {'OK', file_text(f)} end
local overflow, backlog_max, backlog_bytes = unpack(redis.call('HMGET', meta, 'overflow', 'backlog_max', 'backlog_bytes'))
if overflow == 'block' then
  local blocked = refuse_blocked(user, tonumber(backlog_max), tonumber(backlog_bytes), tonumber(size))
  if blocked then return blocked end
end
local now_ms = clock_ms()
local expires_ms = int(now_ms + within_ms)
f = {state = 'open', owner = user, size = size, offset = '0', created_ms = int(now_ms), expires_ms = expires_ms, lock = '-',
  until_ms = '0', hash = hash, refs = '-', json = json}
if tonumber(redis.call('HGET', meta, 'file_bytes') or 0) + file_counted(f) > bytes_max then return {'QUOTA', "the group's"} end

file_write(file, f)
redis.call('ZADD', files_unused, expires_ms, file)
redis.call('HSET', files_of, file, group)
redis.call('HINCRBY', meta, 'file_bytes', int(file_counted(f)))
enqueue_file_expire(task_id, now_ms + within_ms, now_ms)
return {'OK', file_text(f)}
