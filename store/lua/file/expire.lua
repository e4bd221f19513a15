-- Removes the files of a group that expired, and those that no message names any longer, some in each step, and enqueues the
-- task for the rest. Under a legal hold, files that a message has ever named stay, even if it was deleted; and where the log is
-- trimmed, those of pinned messages: it looks at them again and again.
--
-- KEYS  last_id meta msgs files files_unused files_named pinned files_of core:enqueue
-- ARGV  group limit:int task_id check_id check_ms:int
--   check_ms  until the task looks again, whether messages that name files are gone; check_id is its id
-- Returns {OK, 1 if there is more}
-- include: file_named
-- include: file_remove
-- include: hold
local now_ms, first, held = clock_ms(), file_first(), legal_hold()
local stale = held and {} or redis.call('ZRANGEBYSCORE', files_named, '-inf', int(first - 1), 'LIMIT', 0, limit)
local due = redis.call('ZRANGEBYSCORE', files_unused, '-inf', int(now_ms), 'LIMIT', 0, limit)
local unnamed = {}
for i, member in ipairs(stale) do unnamed[i] = string.match(member, '^%d+ (%S+)') end
for _, id in ipairs(due) do unnamed[#unnamed + 1] = id end

for _, member in ipairs(stale) do redis.call('ZREM', files_named, member) end
for _, id in ipairs(unnamed) do
  local f = file_read(id)
  local newest = f and file_newest(id, f, first)
  if f and held and f.refs ~= '-' or newest and newest < first then
    redis.call('ZADD', files_unused, int(now_ms + check_ms), id)
  elseif f and not newest then file_remove(id, f, now_ms) else redis.call('ZREM', files_unused, id) end
end
local next = redis.call('ZRANGE', files_unused, 0, 0, 'WITHSCORES')
if next[2] then enqueue_file_expire(task_id, tonumber(next[2]), now_ms) end
if redis.call('EXISTS', files_named) == 1 then enqueue_file_check(check_id, now_ms + check_ms, now_ms) end
return {'OK', (#due == limit or #stale == limit) and 1 or 0}
