-- include: core.lua
-- remove_group takes a group away in one step: its log, cursors and settings. The lists of who was a member and who
-- sent are kept under other names, because the keys of each user can only be removed in bounded steps, by a task.
-- Where there are webhooks, they are told by whom it was deleted, and of the entries (100 of them at most) that they were
-- not told of yet.
local function remove_group(k, group, channel, task_id, now_ms, by)
  local m = redis.call('HMGET', k.meta, 'epoch', 'name')
  local generation, told = events_position(k)
  local untold = {}
  for i, member in ipairs(told and redis.call('ZRANGEBYSCORE', k.msgs, int(told + 1), '+inf', 'LIMIT', 0, 100) or {}) do
    untold[i] = string.sub(member, string.find(member, '{', 1, true), -1)
  end
  redis.call('ZREM', k.public, m[2] .. '\0' .. group)
  redis.call('RENAME', k.joined, k.gone_members)
  if redis.call('EXISTS', k.senders) == 1 then redis.call('RENAME', k.senders, k.gone_senders) end
  redis.call('UNLINK', k.id, k.meta, k.members, k.managers, k.seen, k.read, k.msgs, k.skip, k.reactions, k.reacted, k.levels,
    k.told)
  task_enqueue(k.qk, task_id, 'cleanup', '{"group":"' .. group .. '","epoch":"' .. m[1] .. '"}', 'normal', 0, now_ms, '')
  if generation then
    task_enqueue(k.qk, string.match(k.meta, '{(p%d+)}') .. '-ended:' .. group .. ':' .. m[1], 'ended', '{"group":"' .. group ..
      '","epoch":"' .. m[1] .. '","by":"' .. by .. '","at_ms":' .. int(now_ms) .. ',"untold":[' ..
      table.concat(untold, ',') .. ']}', 'normal', 0, now_ms, '')
  end
  redis.call('PUBLISH', channel, 'd ' .. m[1])
end
