-- include: core.lua
-- remove_group takes a group away in one step: its log, cursors and settings. The lists of who was a member and who
-- sent are kept under other names, because the keys of each user can only be removed in bounded steps, by a task.
local function remove_group(k, group, channel, task_id, now_ms)
  local m = redis.call('HMGET', k.meta, 'epoch', 'name')
  redis.call('ZREM', k.public, m[2] .. '\0' .. group)
  redis.call('RENAME', k.joined, k.gone_members)
  if redis.call('EXISTS', k.senders) == 1 then redis.call('RENAME', k.senders, k.gone_senders) end
  redis.call('UNLINK', k.id, k.meta, k.members, k.managers, k.seen, k.read, k.msgs, k.skip, k.reactions, k.reacted, k.levels,
    k.told)
  task_enqueue(k.qk, task_id, 'cleanup', '{"group":"' .. group .. '","epoch":"' .. m[1] .. '"}', 'normal', 0, now_ms, '')
  redis.call('PUBLISH', channel, 'd ' .. m[1])
end
