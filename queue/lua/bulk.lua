-- Retries or deletes the next dead or delayed tasks, all or those that are asked for. It looks at
-- a bounded number of tasks, of members of their batches, and of bytes, because it has to read a
-- task to know its kind. Delayed tasks that fire periodic ones are passed over: without them nothing
-- would fire.
--
-- KEYS  queue:work
-- ARGV  state act kind err before_ms:int anchor limit:int
--   state      delayed: soonest first; dead: newest first, so that it does not meet again what fails once more
--   act        retry or delete
--   kind       '' = all kinds
--   err        text that the error of the last run contains; '' = whatever it is
--   before_ms  dead tasks that died before, delayed ones that are due before; 0 = whenever
--   anchor     "<score> <id>" of the last task that the slice before passed over, or of one that it changed;
--              '' = begin at the first
--   limit      tasks to look at
--
-- Returns {more, looked, changed, anchor}: 1 if there are more.
-- Errors: none of its own.
-- bind: work at queue
-- include: common
-- include: page
-- include: remove
-- include: retry
local set, newest_first = state == 'dead' and dead or delayed, state == 'dead'
local from = 0
if anchor == '' and before_ms > 0 and newest_first then from = redis.call('ZCOUNT', set, before_ms, '+inf') end
if anchor ~= '' then from = page_after(set, newest_first, anchor) end
local page = redis.call(newest_first and 'ZREVRANGE' or 'ZRANGE', set, from, from + limit - 1, 'WITHSCORES')
local now_ms = task_clock()
local looked, changed, work, bytes, past = 0, 0, 0, 0, false
for i = 1, #page, 2 do
  local id, size = page[i], redis.call('HSTRLEN', tasks, page[i])
  local carried = task_batch_size(batches, id)
  past = before_ms > 0 and tonumber(page[i + 1]) >= before_ms
  if past then break end
  if looked > 0 and (work + carried > 1000 or bytes + size > 262144) then break end
  looked, work, bytes = looked + 1, work + carried + 1, bytes + size
  local spec = redis.call('HGET', tasks, id)
  local of = spec and string.match(spec, '^%S+ %S+ %S+ %S+ %S+ (%S+)')
  if of and (kind == '' or of == kind) and (state == 'dead' or string.sub(of, 1, 10) ~= '@periodic:')
    and (err == '' or string.find(task_run(redis.call('HGET', runs, id)).err, err, 1, true)) then
    if act == 'retry' then task_retry(id, state, spec, now_ms) else task_remove(id) end
    changed = changed + 1
    -- What fails again meanwhile is newer: it is not met twice.
    if string.match(anchor, '^%S*') ~= page[i + 1] then anchor = page[i + 1] .. ' ' .. id end
  else
    anchor = page[i + 1] .. ' ' .. id
  end
end
if changed > 0 and act == 'retry' then redis.call('PUBLISH', tasks, 'ready') end
return {not past and (2 * looked < #page or #page == 2 * limit) and 1 or 0, looked, changed, anchor}
