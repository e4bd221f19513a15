-- Removes the oldest entries of a group because of their age, at most 500 of those that are stored. Archived ones can no longer be
-- reached, and are deleted there afterwards.
--
-- KEYS  last_id meta seen msgs reactions reacted wants retention core:enqueue
-- ARGV  group epoch days:int id:int mark channel trim_id
--   days  after which entries were found to be too old
--   id    the highest that is too old, as are all below it; mark is its mark
--   trim_id  of a task that removes what one step leaves of their reactions
-- Returns {OK, lowest id that can be read anywhere now}
-- Refuses NOTFOUND (the group is gone), CONFLICT (another number of days holds, or the log has changed: read again), HELD
-- include: hold
-- include: retention
-- include: trim
-- include: task_trim
local has_epoch, archived_from = unpack(redis.call('HMGET', meta, 'epoch', 'archived_from'))
if has_epoch ~= epoch then return {'NOTFOUND'} end
local held = legal_hold()
if held then return held end
local last, stored = tonumber(redis.call('GET', last_id)), redis.call('ZCARD', msgs)
if days_of_group() ~= days or id > last then return {'CONFLICT'} end
local entry = redis.call('ZRANGEBYSCORE', msgs, int(id), int(id))[1]
if entry and string.match(entry, '^%d+ (%S+)') ~= mark then return {'CONFLICT'} end

if trim_expired(last, stored, id) then enqueue_trim(trim_id, epoch, clock_ms()) end
local first = last - redis.call('ZCARD', msgs) + 1
local was = last - stored + 1
if archived_from then
  was, first = math.min(tonumber(archived_from), was), math.min(math.max(tonumber(archived_from), id + 1), first)
  redis.call('HSET', meta, 'archived_from', int(first))
end
if first > was then
  redis.call('HSET', meta, 'expired', int(first - 1))
  redis.call(PUBLISH, channel, 'x ' .. epoch .. ' ' .. int(first - 1))
end
return {'OK', int(first)}
