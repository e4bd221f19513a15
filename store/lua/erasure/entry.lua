-- Erases something of someone who need not be a member: a message with its edits, a reaction that stands, or entries that have
-- nothing but their author and what the author chose. It appends the entry that says so and changes those that it names, in one
-- step, if the target reads as it did.
--
-- KEYS  last_id meta msgs seen read skip reactions reacted author_by wants files_named files_unused
--       erased_counts reports reporters reported pins pinned streams streamed threads replies members quorums joined core:enqueue at...
-- ARGV  user epoch kind mark rest sent_ms channel group trim_id below target emoji head edits json new_json unreact_id erasure_id
--       erased(entry_id entry)...
--   author_by  by: of the user
--   at         of everyone the message mentions
--   kind       delete, reaction, or rest: the erased entries alone
--   below      the target is in the archive: its late as it was read there, else ''
--   head       of the target, the part before its edits: '' if only edits of it are left to erase
--   unreact_id  of the task that goes on with the reactions to the message
--   erasure_id  that counts the message; '' if none does
--   erased     entries that lose what a deletion takes: id, and what is stored then. Of a reaction, the first one stands
-- Returns {OK, id of the entry, 0 if nothing was erased; 1 if a legal hold forbids it}
-- Refuses NOTFOUND (the group is gone), CONFLICT (the target has changed)
-- include: entry
-- include: hold
-- include: log_grew
-- include: file_unname
-- include: unreact
-- include: drop_reports
-- include: pins
-- include: stream
-- include: task_unreact
-- include: task_trim
local has_epoch, keep, backlog_max, late, has_pins, has_streams, has_threads =
  unpack(redis.call('HMGET', meta, 'epoch', 'keep', 'backlog_max', 'late', 'pinned', 'streams', 'threads'))
if has_epoch ~= epoch then return {'NOTFOUND'} end
if legal_hold() then return {'OK', 0, 1} end
local stored = redis.call('ZRANGEBYSCORE', msgs, target, target)[1]
if below ~= '' then
  if stored or below ~= (late or '0') then return {'CONFLICT'} end
elseif head ~= '' then
  local current = stored or has_pins and redis.call('HGET', pinned, target) or ''
  local has_head, has_edits, has_json = string.match(current, '^(%d+ %S+) (%S+) (.*)$')
  if has_head ~= head or has_edits ~= edits or has_json ~= json then return {'CONFLICT'} end
elseif kind == 'delete' and stored then
  return {'CONFLICT'}
end
local one = target .. ' ' .. user .. ' ' .. emoji
local count_old, count = nil, 0
if kind == 'reaction' and below == '' then
  if tonumber(redis.call('ZSCORE', reacted, one) or 0) ~= tonumber(ARGV[erased]) then return {'OK', 0, 0} end
  for _, c in ipairs(redis.call('ZRANGEBYSCORE', reactions, target, target)) do
    local e, n = string.match(c, '^%d+ (.*) (%d+)$')
    if e == emoji then count_old, count = c, tonumber(n) end
  end
end
local now_ms = clock_ms()

local id, member = write_entry(mark, 'x', rest)
redis.call('ZADD', skip, id, id)
redis.call('HSET', meta, 'mark', mark, 'active_ms', sent_ms, 'changed', id, (below ~= '' or kind == 'rest') and 'late' or 'changed', id)
local replaced = {}
if kind == 'reaction' and below == '' then
  if count_old then redis.call('ZREM', reactions, count_old) end
  if count > 1 then redis.call('ZADD', reactions, target, target .. ' ' .. emoji .. ' ' .. int(count - 1)) end
elseif kind == 'delete' and (stored or below ~= '' or head ~= '') then
  stream_drop(has_streams, target)
  redis.call('ZREM', author_by, target)
  redis.call('ZADD', skip, target, target)
  redis.call('ZREMRANGEBYSCORE', reactions, target, target)
  file_unname(target, now_ms)
  for i = at, #KEYS do redis.call('ZREM', KEYS[i], target) end
  if has_threads and json ~= '' then
    -- include: threads_change
    thread_deleted(target, json)
  end
end
if kind == 'delete' and redis.call('HEXISTS', meta, 'quorums') == 1 then
  -- include: quorum
  quorum_gone(target)
end
if kind == 'delete' and stored then
  replaced[1] = head .. ' x ' .. new_json
  redis.call('ZREM', msgs, stored)
  redis.call('ZADD', msgs, target, replaced[1])
end
if kind == 'delete' and head ~= '' then erase_pin(has_pins, target, head .. ' x ' .. new_json) end
local listed = kind == 'delete' and stored -- unchanged
for i = erased, #ARGV, erased_row do
  -- bind: erased at i
  if kind == 'rest' then erase_pin(has_pins, entry_id, entry) end
  -- A log that was rolled back may have another entry there. Edits that the target lists are not read: they may be large.
  local same = listed
  if not same then
    local was = redis.call('ZRANGEBYSCORE', msgs, entry_id, entry_id)[1]
    same = was and string.match(was, '^%d+ %S+ ') == string.match(entry, '^%d+ %S+ ')
  end
  if same and redis.call('ZREMRANGEBYSCORE', msgs, entry_id, entry_id) == 1 then
    redis.call('ZADD', msgs, entry_id, entry)
    redis.call('ZREMRANGEBYSCORE', reacted, entry_id, entry_id)
    replaced[#replaced + 1] = entry
  end
end
if kind == 'delete' then
  local deleted_at = string.match(rest, '"sent_at":"([^"]*)"[^{}%[%]]*}$')
  local next = unreact(target, target, deleted_at, nil, replaced)
  if next then enqueue_unreact(unreact_id, epoch, target, next, deleted_at, id, now_ms) end
  drop_reports(function(r) return r.target == tonumber(target) end)
end
log_grew(epoch, id, now_ms)
redis.call('HSET', meta, 'deleted', id)
if erasure_id ~= '' then redis.call('HINCRBY', erased_counts, erasure_id, 1) end
local last = tonumber(id)
keep, backlog_max = tonumber(keep), tonumber(backlog_max)
-- include: trim_64th
if more then enqueue_trim(trim_id, epoch, now_ms) end
publish_entry(epoch, member, replaced)
return {'OK', id, 0}
