-- Ends a message that is being written: its text is what stands, and an entry says so, as an edit. This is no removal of content, so a
-- legal hold does not refuse it; and nobody's rights count, for the text was written with them.
--
-- KEYS  last_id meta msgs seen read skip reactions reacted core:work wants kept pins pinned streams streamed
-- ARGV  from mark rest sent_ms group epoch target gen:int length:int cut:flag silence_ms:int longest_ms:int was new_json mention_id mentioned channel task_id
--   from, mark, rest, sent_ms  of the entry
--   gen, length  of the text that it was made of
--   cut          only if its author is silent for silence_ms, or longest_ms have passed since it began
--   was          JSON of the message with what stands; new_json as it reads from now on
--   mentioned    users to be notified, separated by blanks; mention_id is the id of that task
--   task_id      of a task that continues if there is more to trim
-- Returns {OK, id of the entry; 0 if it has ended already, or is not silent yet, and then the ms to wait}
-- Refuses NOTFOUND, CONFLICT (more was written since)
-- include: stream
-- include: entry
-- include: log_grew
-- include: keep_held
-- include: pins
-- include: task_stream
-- include: task_mention
-- include: task_cancel
local has_epoch, keep, backlog_max, archived_from, hold, has_pins, has_streams, newest = unpack(redis.call('HMGET', meta,
  'epoch', 'keep', 'backlog_max', 'archived_from', 'hold', 'pinned', 'streams', 'newest'))
if has_epoch ~= epoch then return {'NOTFOUND'} end
local s = has_streams and stream_of(target)
if not s then return {'OK', '0', 0} end
local now_ms = clock_ms()
local due = math.min(s.last + silence_ms, s.opened + longest_ms)
if cut and now_ms < due then return {'OK', '0', int(due - now_ms)} end
if s.gen ~= gen or s.length ~= length then return {'CONFLICT'} end

local stored = redis.call('ZRANGEBYSCORE', msgs, target, target)[1]
local late = not stored and archived_from and tonumber(target) >= tonumber(archived_from)
local id, member = write_entry(mark, 'x', rest)
redis.call('ZADD', skip, id, id)
redis.call('HSET', meta, 'mark', mark, 'active_ms', sent_ms, 'changed', id, late and 'late' or 'changed', id)
-- A reply counts in its thread alone.
local root = string.match(new_json, '^{"id":%d+,"group":"[^"]*","from":"[^"]*","kind":"%a+","thread":(%d+)')
if not root and tonumber(newest or 0) < tonumber(target) then redis.call('HSET', meta, 'newest', target) end
if hold then keep_held(target, id, was) end
local now_reads = target .. ' ' .. s.mark .. ' ' .. id .. ' ' .. new_json
if stored then
  redis.call('ZREM', msgs, stored)
  redis.call('ZADD', msgs, target, now_reads)
end
change_pin(has_pins, target, now_reads)
stream_drop(has_streams, target)
if not cut then task_cancel(core, stream_task(epoch, target)) end
advance(from, id)
log_grew(epoch, id, now_ms, not root, nil, root)
if mentioned ~= '' then
  local users = {}
  for user in string.gmatch(mentioned, '%S+') do users[#users + 1] = user end
  enqueue_mention(mention_id, epoch, target, s.author, users, now_ms)
end
local last = tonumber(id)
keep, backlog_max = tonumber(keep), tonumber(backlog_max)
-- include: trim_64th
if more then
  -- include: task_trim
  enqueue_trim(task_id, epoch, now_ms)
end
publish_entry(epoch, member, {now_reads})
return {'OK', id, 0}
