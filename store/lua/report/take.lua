-- Takes an open report for a while, so that nobody else acts on it meanwhile: an owner, an admin or an operator does, but for those
-- about themself.
--
-- KEYS  meta members reports reporters
-- ARGV  caller operator:flag report lease lease_ms:int
--   lease     names who takes it
--   lease_ms  for how long
-- Returns {OK, record}
-- Refuses NOTFOUND (also to who may not know of it), CONFLICT (somebody else has taken it)
-- include: base
-- include: manage
-- include: report
local epoch, visibility = unpack(redis.call('HMGET', meta, 'epoch', 'visibility'))
if not epoch or may_manage(visibility, caller, operator) then return {'NOTFOUND'} end
local text = redis.call('HGET', reporters, report)
local r = text and report_of(text)
if not r or r.from == caller then return {'NOTFOUND'} end
local now_ms = clock_ms()
if r.lease_ms > now_ms and r.lease ~= lease then return {'CONFLICT'} end
redis.call('HSET', reporters, report, r.head .. ' ' .. int(now_ms + lease_ms) .. ' ' .. lease)
return {'OK', redis.call('HGET', reports, report)}
