-- include: base
-- include: webhook_position
-- include: webhook_behind
-- include: task_deleted
-- include: task_archive
-- include: task_file
-- include: named
-- include: drop_reports
-- needs: last_id meta members member_data joined managers seen read msgs skip senders reactions reacted gone_members gone_senders public named
-- needs: levels notified at_all mutes slow expires bans banned requests asked invites invited reviews reviewed waiting files files_unused files_named gone_files reports reporters reported pins pinned streams streamed threads replies pressed here quorums group channel
-- without_content returns the JSON of an entry without what its author wrote, if that is all that there was: see chat.Entry for the
-- order of its fields. No brace or bracket stands behind sent_at, so one inside of data is not taken for it.
local function without_content(json)
  local head, kind = string.match(json, '^({"id":%d+,"group":"[^"]*","from":"[^"]*","kind":"(%a+)")')
  if kind ~= 'text' and kind ~= 'data' and kind ~= 'edit' then return json end
  local tail = string.match(json, ',"sent_at":"[^"]*"[^{}%[%]]*}$')
  if not tail then return json end
  return head .. (string.match(json, '(,"target":%d+),"sent_at":"[^"]*"[^{}%[%]]*}$') or '') .. tail
end

-- remove_group removes a group in one step: its log, cursors and settings. The lists of members and senders are kept
-- under other names, because the keys of each user can only be removed in bounded steps, by a task. If there are
-- webhooks, they get the user who deleted it, and the entries (100 of them at most) without events, and without content. Webhooks that were
-- behind miss the entries in between. If there is an archive, it drops the log.
local function remove_group(task_id, caller, now_ms)
  local epoch, name, folded = unpack(redis.call('HMGET', meta, 'epoch', 'name', 'folded'))
  local generation, evented, lagging = webhook_position()
  local entries = {}
  for i, member in ipairs(evented and redis.call('ZRANGEBYSCORE', msgs, int(evented + 1), '+inf', 'LIMIT', 0, 100) or {}) do
    entries[i] = without_content(string.sub(member, string.find(member, '{', 1, true), -1))
  end
  local behind, missed = webhook_behind(lagging), {}
  for i, webhook in ipairs(behind.names) do missed[i] = '"' .. webhook .. '":' .. int(evented - behind.at[webhook]) end
  redis.call('ZREM', named, '=' .. group .. '\0' .. group)
  unlist_name(folded)
  redis.call('ZREM', public, name .. '\0' .. group)
  redis.call('RENAME', joined, gone_members)
  if redis.call('EXISTS', senders) == 1 then redis.call('RENAME', senders, gone_senders) end
  if redis.call('EXISTS', files) == 1 then
    redis.call('RENAME', files, gone_files)
    redis.call('UNLINK', files_unused, files_named)
    enqueue_file_gone(task_id .. '.files', now_ms)
  end
  drop_reports(function() return true end)
  local invitations = redis.call('HKEYS', invites)
  if #invitations > 0 then redis.call('HDEL', invited, unpack(invitations)) end
  local held = redis.call('HKEYS', reviews)
  for i, review in ipairs(held) do held[i] = review .. '\0' .. group end
  if #held > 0 then redis.call('ZREM', reviewed, unpack(held)) end
  redis.call('UNLINK', last_id, meta, members, member_data, managers, seen, read, msgs, skip, reactions, reacted, levels, notified,
    waiting, at_all, invites, reviews, mutes, slow, expires, bans, banned, requests, asked, pins, pinned, streams, streamed, threads, replies, pressed, here, quorums)
  enqueue_cleanup(task_id, epoch, now_ms)
  if generation then
    enqueue_ended(string.match(meta, '{(p%d+)}') .. '-ended:' .. group .. ':' .. epoch, epoch, caller, now_ms, entries, missed)
  end
  if redis.call('HEXISTS', wants, 'archive') == 1 then
    enqueue_archive(string.match(meta, '{(p%d+)}') .. '-ended:' .. group .. ':' .. epoch, epoch, 0, now_ms)
  end
  redis.call(PUBLISH, channel, 'd ' .. epoch)
end
