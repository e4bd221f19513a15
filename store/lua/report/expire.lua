-- Removes the reports of a group that have been open for too long, and has a task look again when the next one will have been.
--
-- KEYS  reports reporters reported core:enqueue
-- ARGV  group keep_ms:int end_id
-- Returns {OK}
-- include: drop_reports
-- include: task_report
local now_ms, oldest_ms = clock_ms(), nil
drop_reports(function(r)
  if r.at_ms <= now_ms - keep_ms then return true end
  oldest_ms = math.min(oldest_ms or r.at_ms, r.at_ms)
  return false
end)
if oldest_ms then enqueue_reports_end(end_id, oldest_ms + keep_ms, now_ms) end
return {'OK'}
