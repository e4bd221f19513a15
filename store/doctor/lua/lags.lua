-- Reads how far a group is archived and its events are published, and whether the tasks wait that continue. Only reads.
--
-- KEYS  last_id meta seen wants tasks unique dead
-- ARGV  group
-- Returns {OK, epoch ('' if there is no group), last, 1 while there is an archive, id up to which the group is archived (-1 for
--       not at all), 1 if a task that archives waits, id up to which events are published (-1 if there are none to publish),
--       1 if a task that publishes waits, then for each webhook that is behind its name, the id at which it fell behind, the id
--       of its task, 1 if that is there, 1 if it is dead}
local epoch, events, behind = unpack(redis.call('HMGET', meta, 'epoch', 'events', 'behind'))
if not epoch then return {'OK', ''} end
local life, tag = ':' .. group .. ':' .. epoch, string.match(meta, '{(p%d+)}')
local generation = string.match(redis.call('HGET', wants, 'events') or '', '^%d+')
local function position(text)
  local of, rest = string.match(text or '', '^(%d+)(.*)$')
  return of and of == generation and rest
end
local out = {'OK', epoch, redis.call('GET', last_id) or '0', redis.call('HEXISTS', wants, 'archive'),
  redis.call('ZSCORE', seen, '$archive') or -1, redis.call('HEXISTS', unique, 'archive' .. life),
  string.match(position(events) or '', '%d+') or -1, redis.call('HEXISTS', unique, 'events' .. life)}
for name, since in string.gmatch(position(behind) or '', ' ([^: ]+):(%d+):%d+') do
  local task = tag .. '-behind' .. life .. ':' .. name .. ':' .. since
  for _, value in ipairs({name, since, task, redis.call('HEXISTS', tasks, task), redis.call('ZSCORE', dead, task) and 1 or 0}) do
    out[#out + 1] = value
  end
end
return out
