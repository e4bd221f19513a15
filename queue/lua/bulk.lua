-- Retries or deletes the next dead or delayed tasks, all or those that are asked for, or those of a
-- list. It looks at a bounded number of tasks, of members of their batches, and of bytes, because it
-- has to read a task to know its kind. Delayed tasks that fire periodic ones are passed over: without
-- them nothing would fire.
--
-- KEYS  queue:work
-- ARGV  state act kind err before_ms:int anchor limit:int ids...
--   state      delayed: soonest first; dead: newest first, so that it does not meet again what fails once more
--   act        retry or delete
--   kind       '' = all kinds
--   err        text that the error of the last run contains; '' = whatever it is
--   before_ms  dead tasks that died before, delayed ones that are due before; 0 = whenever
--   anchor     "<score> <id>" of the last task that the slice before passed over, or of one that it changed;
--              '' = begin at the first
--   limit      tasks to look at
--   ids        if there are any, only these are looked at, in this order, and anchor says nothing
--
-- Returns {more, looked, changed, anchor}: 1 if there are more; of a list, it looked at the first.
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
local page, listed = {}, ids <= #ARGV
if not listed then page = redis.call(newest_first and 'ZREVRANGE' or 'ZRANGE', set, from, from + limit - 1, 'WITHSCORES') end
for i = ids, #ARGV do
  page[#page + 1] = ARGV[i]
  page[#page + 1] = ''
end
local now_ms = task_clock()
local looked, changed, work, bytes, past = 0, 0, 0, 0, false
for i = 1, #page, 2 do
  local id, at, size = page[i], page[i + 1], redis.call('HSTRLEN', tasks, page[i])
  local carried = task_batch_size(batches, id)
  if listed then at = redis.call('ZSCORE', set, id) or '' end -- a task may be listed twice
  past = before_ms > 0 and at ~= '' and tonumber(at) >= before_ms
  if past and not listed then break end
  if looked > 0 and (work + carried > 1000 or bytes + size > 262144) then break end
  looked, work, bytes = looked + 1, work + carried + 1, bytes + size
  local spec = at ~= '' and not past and redis.call('HGET', tasks, id)
  local of = spec and string.match(spec, '^%S+ %S+ %S+ %S+ %S+ (%S+)')
  if of and (kind == '' or of == kind) and (state == 'dead' or string.sub(of, 1, 10) ~= '@periodic:')
    and (err == '' or string.find(task_run(redis.call('HGET', runs, id)).err, err, 1, true)) then
    if act == 'retry' then task_retry(id, state, spec, now_ms) else task_remove(id) end
    changed = changed + 1
    -- What fails again meanwhile is newer: it is not met twice.
    if string.match(anchor, '^%S*') ~= at then anchor = at .. ' ' .. id end
  else
    anchor = at .. ' ' .. id
  end
end
if changed > 0 and act == 'retry' then redis.call('PUBLISH', tasks, 'ready') end
return {not listed and not past and (2 * looked < #page or #page == 2 * limit) and 1 or 0, looked, changed, anchor}
