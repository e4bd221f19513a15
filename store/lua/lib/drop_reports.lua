-- include: report
-- needs: reports reporters reported group
-- drop_reports removes the open reports of the group for which gone says so; gone gets one as report_of reads it.
local function drop_reports(gone)
  local all = redis.call('HGETALL', reporters)
  for n = 1, #all, 2 do
    if gone(report_of(all[n + 1])) then
      redis.call('HDEL', reports, all[n])
      redis.call('HDEL', reporters, all[n])
      redis.call('ZREM', reported, all[n] .. '\0' .. group)
    end
  end
end
