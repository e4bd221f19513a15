-- Makes a group of an import that has all its entries. Its members have seen and read everything, and nothing of it counts as
-- unread, is published or notified. Nobody sees anything of an import before this step.
--
-- KEYS  last_id meta members joined managers seen read msgs skip reactions reacted gone_members gone_senders gone_files
--       core:enqueue wants retention named import import_msgs import_skip import_reacted import_reactions
-- ARGV  file epoch group name folded creator created_ms active_ms keep backlog_max overflow
--       backlog_bytes last newest mark trimmed archived:flag task_id retain_id users...
--   folded     the name, folded
--   newest     id of the newest text or data, mark is that of the last entry
--   trimmed    `<id> <mark>` of the entry before the lowest staged one; '' if everything is staged
--   archived   the archive has all entries
--   retain_id  of a task that removes what is too old
--   users      the members, the creator first: the ids of their notices of joining are 1, 2, ...
-- Returns {OK}
-- Refuses EXISTS; GONE; CONFLICT (the import is not complete, or the archive was switched off or on meanwhile)
-- include: base
-- include: named
-- include: retention
-- include: task_member
-- include: task_retain
if redis.call('EXISTS', meta) == 1 then return {'EXISTS'} end
if redis.call('EXISTS', gone_members, gone_senders, gone_files) > 0 then return {'GONE'} end
local has_epoch, at = unpack(redis.call('HMGET', import, 'epoch', 'at'))
if has_epoch ~= epoch or tonumber(at) ~= tonumber(last) then return {'CONFLICT'} end
if (redis.call('HEXISTS', wants, 'archive') == 1) ~= archived then return {'CONFLICT'} end
local now_ms, list, roles, joins, cursors = clock_ms(), {}, {}, {}, {}
for i = users, #ARGV do
  local n = #joins
  list[#list + 1] = ARGV[i]
  roles[n + 1], roles[n + 2] = ARGV[i], (i == users and 'owner ' or 'member ') .. created_ms
  joins[n + 1], joins[n + 2] = int(#list), ARGV[i]
  cursors[n + 1], cursors[n + 2] = last, ARGV[i]
end

-- floor: what was imported is never counted, so nobody's own messages and mentions in it are listed.
redis.call('HSET', meta, 'epoch', epoch, 'name', name, 'visibility', 'private', 'created_by', creator, 'created_ms', created_ms,
  'keep', keep, 'backlog_max', backlog_max, 'overflow', overflow, 'backlog_bytes', backlog_bytes, 'post', 'members', 'history', '1', 'retain_days', '0', 'key', '', 'active_ms',
  active_ms, 'newest', newest, 'owner', creator, 'floor', last, 'mark', mark, 'imported', file, 'folded', folded)
list_group(folded)
if trimmed ~= '' then redis.call('HSET', meta, 'trimmed', trimmed) end
redis.call('SET', last_id, last)
for _, pair in ipairs({{import_msgs, msgs}, {import_skip, skip}, {import_reacted, reacted}, {import_reactions, reactions}}) do
  if redis.call('EXISTS', pair[1]) == 1 then redis.call('RENAME', pair[1], pair[2]) end
end
redis.call('DEL', import)
redis.call('HSET', members, unpack(roles))
redis.call('ZADD', managers, '1', creator)
redis.call('ZADD', joined, unpack(joins))
redis.call('ZADD', seen, unpack(cursors))
redis.call('ZADD', read, unpack(cursors))
if archived then
  redis.call('HSET', meta, 'archived_from', '1')
  redis.call('ZADD', seen, last, '$archive')
end
enqueue_member(task_id, epoch, '1', creator, 'imported', list, active_ms, now_ms)
local days = days_of_group()
if days > 0 then enqueue_retain(retain_id, epoch, days, 0, now_ms) end
return {'OK'}
