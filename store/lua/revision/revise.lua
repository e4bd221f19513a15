-- Appends an edit or a deletion and changes the messages that it affects, in one step, if they are still as they were
-- when the change was prepared.
--
-- KEYS  last_id meta members msgs seen read skip senders sent reactions reacted author_by wants files_named files_unused
--       kept erasures mutes pins pinned streams streamed threads replies expires reviews reviewed quorums joined audit core:enqueue at...
-- ARGV  from kind mark rest sent_ms key content as_manager:flag decided:flag durable:flag channel keys_max:int edits_max:int group
--       below target head edits json new_json bare:flag unreact_id review report audit_id audited audits_max:int
--       erased(entry_id was entry)...
--   author_by   by: of the target's author
--   at          of everyone the target mentions
--   as_manager  the caller must be allowed to manage
--   decided     it was decided by who managed the group then: from need not be a member
--   below       if the target is in the archive: `<epoch> <late>` as it was read there, else ''
--   target      its id; head is the part before its edits, new_json replaces json
--   bare        the edits below come without their JSON: CONFLICT under a legal hold, which needs it
--   unreact_id  of the task that goes on with the reactions to the target
--   review      of the edit, which ends with it, or ''; report as lib/review.lua
--   audit_id, audited  what the audit gets of that, or of the deletion of another's message; '': nothing
--   erased      edits of the target that lose their content: id, JSON, and the new entry
-- Returns as log/append.lua
-- Refuses NOTFOUND, FORBIDDEN, BLOCKS, MUTED, KEYREUSED, CONFLICT, EDITS, REVIEW
-- include: not_member
-- include: muted
-- include: retry
-- include: entry
-- include: log_grew
-- include: file_unname
-- include: task_withdraw
-- include: keep_held
-- include: pins
-- include: stream
-- include: unreact
-- include: task_unreact
-- include: review
-- include: audit
local epoch, visibility, post, keep, backlog_max, archived_from, late, hold, muted, has_pins, expiring, has_streams, has_threads = unpack(redis.call('HMGET', meta,
  'epoch', 'visibility', 'post', 'keep', 'backlog_max', 'archived_from', 'late', 'hold', 'muted', 'pinned', 'expiring', 'streams', 'threads'))
if not epoch then return {'NOTFOUND'} end
local gone = review_gone(review)
if gone then return gone end
local role = redis.call('HGET', members, from)
if not role and not decided then return not_member(visibility) end
local ordinary = not decided and string.sub(role, 1, 6) == 'member'

local first_time = known(key, content, durable)
if first_time then
  return first_time.refused or
    {'OK', epoch, '', 0, table.concat({first_time.id, first_time.ms, first_time.mark, content}, ' ')}
end
if ordinary and as_manager then return {'FORBIDDEN', 'author'} end
if not as_manager and (ordinary or kind == 'edit') then
  -- What a legal hold keeps of an erased person does not belong to the user who has the name now.
  for _, former in ipairs(redis.call('HVALS', erasures)) do
    local name, of, up_to = string.match(former, '^(%S+) (%S+) (%d+)$')
    if name == from and of == epoch and tonumber(target) <= tonumber(up_to) then return {'FORBIDDEN', 'author'} end
  end
end
if kind == 'edit' then
  if post == 'none' then return {'FORBIDDEN', 'nobody'} end
  if ordinary and post == 'admins' then return {'FORBIDDEN', 'posters'} end
  local refused = refuse_muted(muted, from)
  if refused then return refused end
end

-- The target is unchanged, so its edits are too: it lists them.
local stored = redis.call('ZRANGEBYSCORE', msgs, target, target)[1]
if below ~= '' then
  -- In the archive it is unchanged as long as no entry there has changed.
  if stored or below ~= epoch .. ' ' .. (late or '0') then return {'CONFLICT'} end
elseif not stored and archived_from and tonumber(target) >= tonumber(archived_from) then
  -- It was trimmed since it was read: it is in the archive.
  return {'CONFLICT'}
else
  local current = stored or has_pins and redis.call('HGET', pinned, target)
  if not current then return {'NOTFOUND'} end
  local has_head, has_edits, has_json = string.match(current, '^(%d+ %S+) (%S+) (.*)$')
  if has_edits == 'x' then return {'NOTFOUND'} end
  -- What stands of a stream is not in its entry. It cannot be edited, and what a deletion leaves says nothing of it.
  local open = has_streams and redis.call('HEXISTS', streams, target) == 1
  if has_head ~= head or has_edits ~= edits or (open and kind == 'edit') or (not open and has_json ~= json) then return {'CONFLICT'} end
end
if kind == 'edit' and edits ~= '-' then
  local _, commas = string.gsub(edits, ',', '')
  if commas + 1 >= edits_max then return {'EDITS'} end
end
if hold and bare then return {'CONFLICT'} end
local now_ms = clock_ms()
if expiring and kind == 'edit' then
  -- Nobody edits what has to be gone by now.
  local goes_ms = redis.call('ZSCORE', expires, target)
  if goes_ms and tonumber(goes_ms) <= now_ms then return {'NOTFOUND'} end
end

local id, member = write_entry(mark, 'x', rest)
redis.call('ZADD', skip, id, id)
redis.call('HSET', meta, 'mark', mark, 'active_ms', sent_ms, 'changed', id, below ~= '' and 'late' or 'changed', id)
if kind == 'edit' then
  edits = edits == '-' and id or edits .. ',' .. id
else
  edits = 'x'
end
if kind == 'delete' then
  stream_drop(has_streams, target)
  redis.call('ZREM', author_by, target)
  redis.call('ZADD', skip, target, target)
  redis.call('ZREMRANGEBYSCORE', reactions, target, target)
  file_unname(target, now_ms)
  if expiring then redis.call('ZREM', expires, target) end
  for i = at, #KEYS do redis.call('ZREM', KEYS[i], target) end
  if has_threads then
    -- include: threads_change
    thread_deleted(target, json)
  end
  if redis.call('HEXISTS', meta, 'quorums') == 1 then
    -- include: quorum
    quorum_gone(target)
  end
end
if hold then keep_held(target, id, json) end
local replaced = {head .. ' ' .. edits .. ' ' .. new_json}
if stored then
  redis.call('ZREM', msgs, stored)
  redis.call('ZADD', msgs, target, replaced[1])
end
change_pin(has_pins, target, replaced[1])
for i = erased, #ARGV, erased_row do
  -- bind: erased at i
  if hold then keep_held(entry_id, id, was) end
  if redis.call('ZREMRANGEBYSCORE', msgs, entry_id, entry_id) == 1 then
    redis.call('ZADD', msgs, entry_id, entry)
    replaced[#replaced + 1] = entry
  end
end
if kind == 'delete' then
  local deleted_at = string.match(rest, '"sent_at":"([^"]*)"[^{}%[%]]*}$')
  local before = hold and function(reaction_id, was_json) keep_held(reaction_id, id, was_json) end
  local next = unreact(target, target, deleted_at, before, replaced)
  if next then enqueue_unreact(unreact_id, epoch, target, next, deleted_at, id, now_ms) end
end
advance(from, id)
if role then redis.call('ZADD', senders, int(now_ms), from) end
if key ~= '' then remember(key, id, sent_ms, mark, content, keys_max) end
review_end(review, group, report, id, now_ms)
note_audit(epoch, audit_id, audited)
log_grew(epoch, id, now_ms)
if kind == 'delete' then
  redis.call('HSET', meta, 'deleted', id)
  if redis.call('HEXISTS', wants, 'webhooks') == 1 then
    local ids = {target}
    for i = erased, #ARGV, erased_row do
      -- bind: erased at i
      ids[#ids + 1] = entry_id
    end
    enqueue_withdraw(string.match(wants, '{(p%d+)}') .. '-withdraw:' .. group .. ':' .. epoch .. ':' .. id, epoch, ids, now_ms)
  end
end
local last = tonumber(id)
keep, backlog_max = tonumber(keep), tonumber(backlog_max)
-- include: trim_64th
publish_entry(epoch, member, replaced)
return {'OK', epoch, last % 64 == 0 and idle_sender(senders, now_ms) or '', more and 1 or 0, id}
