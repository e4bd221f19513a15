-- Keeps the report of a member about a text or data, with its content, if it still reads as it did. A second one of the same member
-- about it is the first.
--
-- KEYS  meta members msgs pinned wants reports reporters reported core:enqueue
-- ARGV  user group report target below head edits json from record event keep_ms:int open_max:int mine_max:int reported_id end_id
--   target    its id; head is the part before its edits
--   below     if it is in the archive: `<epoch> <late>` as it was read there, else ''
--   from      its author
--   record    JSON of the report
--   event     what webhooks get, as JSON
--   keep_ms   how long the report stays open at most
--   open_max  open reports of the group; mine_max: of the user among them
-- Returns {OK, 1 if it is new, id, record}
-- Refuses NOTFOUND, FORBIDDEN, CONFLICT (it does not read like that any longer), REPORTS, MYREPORTS
-- include: not_member
-- include: report
-- include: task_report
local epoch, visibility, late, has_pins = unpack(redis.call('HMGET', meta, 'epoch', 'visibility', 'late', 'pinned'))
if not epoch then return {'NOTFOUND'} end
if redis.call('HEXISTS', members, user) == 0 then return not_member(visibility) end
local open, mine, all = 0, 0, redis.call('HGETALL', reporters)
for n = 1, #all, 2 do
  local r = report_of(all[n + 1])
  open = open + 1
  if r.by == user then
    mine = mine + 1
    if r.target == tonumber(target) then return {'OK', 0, all[n], redis.call('HGET', reports, all[n])} end
  end
end
local stored = redis.call('ZRANGEBYSCORE', msgs, target, target)[1]
if below ~= '' then
  -- In the archive it is unchanged as long as no entry there has changed.
  if stored or below ~= epoch .. ' ' .. (late or '0') then return {'CONFLICT'} end
else
  local current = stored or has_pins and redis.call('HGET', pinned, target)
  local has_head, has_edits, has_json = string.match(current or '', '^(%d+ %S+) (%S+) (.*)$')
  if has_head ~= head or has_edits ~= edits or has_json ~= json then return {'CONFLICT'} end
end
if open >= open_max then return {'REPORTS'} end
if mine >= mine_max then return {'MYREPORTS'} end
local now_ms = clock_ms()

redis.call('HSET', reports, report, record)
redis.call('HSET', reporters, report, target .. ' ' .. user .. ' ' .. from .. ' ' .. int(now_ms) .. ' 0 -')
redis.call('ZADD', reported, 0, report .. '\0' .. group)
if redis.call('HEXISTS', wants, 'events') == 1 then enqueue_reported(reported_id, event, now_ms) end
enqueue_reports_end(end_id, now_ms + keep_ms, now_ms)
return {'OK', 1, report, record}
