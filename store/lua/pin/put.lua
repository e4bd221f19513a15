-- Pins a text or data, with a notice, if it still reads as it did when it was read. Pinning it again changes nothing.
--
-- KEYS  last_id meta members joined mutes msgs seen read skip reactions reacted core:enqueue wants pins pinned
-- ARGV  caller operator:flag group target below head edits json author sent_ms:int at_ms mark rest pins_max:int channel task_id
--   below       if the target is in the archive: `<epoch> <late>` as it was read there, else ''
--   head        of the target, the part before its edits; author is who wrote it, sent_ms when
--   at_ms, mark, rest  of the notice
--   task_id     of a task that continues if there is more to trim
-- Returns {OK, 1 if it was not pinned before}
-- Refuses NOTFOUND, FORBIDDEN, BLOCKS, MUTED, CONFLICT (it does not read like that any longer), PINS
-- include: may_pin
-- include: pins
-- include: notice
-- include: log_grew
local epoch, visibility, history, who, post, direct, muted, late, keep, backlog_max = unpack(redis.call('HMGET', meta,
  'epoch', 'visibility', 'history', 'pins', 'post', 'direct', 'muted', 'late', 'keep', 'backlog_max'))
if not epoch then return {'NOTFOUND'} end
local refused = may_pin(visibility, who, post, direct, muted, caller, operator)
if refused then return refused end
local since = history == '0' and redis.call('ZSCORE', joined, caller)
if since and tonumber(target) < tonumber(since) then return {'NOTFOUND'} end
local was = redis.call('HGET', pinned, target)
if was then return string.match(was, '^%d+ %S+ (%S+)') == 'x' and {'NOTFOUND'} or {'OK', 0} end
local stored = redis.call('ZRANGEBYSCORE', msgs, target, target)[1]
if below ~= '' then
  -- In the archive it is unchanged as long as no entry there has changed.
  if stored or below ~= epoch .. ' ' .. (late or '0') then return {'CONFLICT'} end
elseif stored ~= head .. ' ' .. edits .. ' ' .. json then
  return {'CONFLICT'}
end
if redis.call('HLEN', pins) >= pins_max then return {'PINS'} end
local now_ms = clock_ms()

local id = notice(epoch, mark, rest, at_ms)
redis.call('HSET', pins, target, pin_text({number = tonumber(id), at_ms = at_ms, sent_ms = sent_ms, by = caller, author = author}))
redis.call('HSET', pinned, target, head .. ' ' .. edits .. ' ' .. json)
redis.call('HSET', meta, 'pinned', '1')
advance(caller, id)
log_grew(epoch, id, now_ms)
local last = tonumber(id)
keep, backlog_max = tonumber(keep), tonumber(backlog_max)
-- include: trim_64th
if more then
  -- include: task_trim
  enqueue_trim(task_id, epoch, now_ms)
end
return {'OK', 1}
