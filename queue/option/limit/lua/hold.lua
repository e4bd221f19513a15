-- Takes a slot of a limit for code that is not a task, or asks again for one that it waits for. The slot is a task of the
-- kind @hold, which is never ready: it is parked, or leased to the caller.
--
-- KEYS  queue:work
-- ARGV  id token lease_ms:int busy options
--   id, token  of the caller, the same in each call
--   lease_ms   length of the lease, also of one that begins when the slot is passed on
--   busy       without a free slot: wait parks the caller, fail refuses it, and again changes nothing: it only
--              asks whether the slot has been passed on
--   options    the limit, as option.go writes it
--
-- Returns the fence of the slot, a number that is higher than that of every other slot taken here before. Otherwise
-- 0: the caller is parked, -1: it was refused, or is neither parked nor leased any more.
-- Errors: none of its own.
-- bind: work at queue
-- include: common
local now_ms, from_ms, now_us = task_clock()
local member = id .. ' ' .. token
local until_ms = string.format('%.0f', from_ms + lease_ms)

local function fence()
  local last = tonumber(redis.call('HGET', counts, 'fence') or '0')
  local anew = string.format('%.0f', math.max(last + 1, now_us))
  redis.call('HSET', counts, 'fence', anew)
  return tonumber(anew)
end

if redis.call('ZSCORE', leased, member) then
  redis.call('ZADD', leased, until_ms, member)
  return fence()
end
if redis.call('HEXISTS', tasks, id) == 1 then return 0 end
if busy == 'again' then return -1 end

local spec = string.format('normal 0 0 %.0f 0 @hold %s\n%d %s', now_ms, options, lease_ms, token)
local limit = limit_of(options)
local view = limit_view(slots, limit.key)
local free = limit_open(view, limit)
if not free and busy == 'fail' then return -1 end
redis.call('HSET', tasks, id, spec)
redis.call('HINCRBY', counts, 'enqueued', 1)
task_account(counts, id, 1, #spec)
if not free then
  limit_park(lines, parked, limit.key, id, now_us)
  view.waits = true
  limit_write(slots, limit.key, view)
  return 0
end
limit_take(slots, limit.key, view, id)
redis.call('ZADD', leased, until_ms, member)
return fence()
