-- Closes a report that was taken, or gives it back. A report that somebody else has taken since stays as it is.
--
-- KEYS  reports reporters reported
-- ARGV  group report lease close:flag
-- Returns {OK}
-- include: report
local text = redis.call('HGET', reporters, report)
local r = text and report_of(text)
if not r or r.lease ~= lease then return {'OK'} end
if close then
  redis.call('HDEL', reports, report)
  redis.call('HDEL', reporters, report)
  redis.call('ZREM', reported, report .. '\0' .. group)
else
  redis.call('HSET', reporters, report, r.head .. ' 0 -')
end
return {'OK'}
