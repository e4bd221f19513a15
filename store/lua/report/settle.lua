-- Closes a report that was taken, or gives it back. A report that somebody else has taken since stays as it is.
--
-- KEYS  meta reports reporters reported audit
-- ARGV  group report lease close:flag audit_id audited audits_max:int
--   audit_id, audited  what the audit gets of the decision that closes it
-- Returns {OK}
-- include: report
-- include: audit
local text = redis.call('HGET', reporters, report)
local r = text and report_of(text)
if not r or r.lease ~= lease then return {'OK'} end
if close then
  redis.call('HDEL', reports, report)
  redis.call('HDEL', reporters, report)
  note_audit(redis.call('HGET', meta, 'epoch'), audit_id, audited)
  redis.call('ZREM', reported, report .. '\0' .. group)
else
  redis.call('HSET', reporters, report, r.head .. ' 0 -')
end
return {'OK'}
