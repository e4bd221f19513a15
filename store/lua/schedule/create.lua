-- Creates a schedule with the task of its first occurrence, or returns the one that the same key created before.
--
-- KEYS  schedule reviews reviewed audit core:work
-- ARGV  schedule_id plan content created_ms next_ms review report owner epoch audit_id audited audits_max:int
--   content  hash of the request
--   next_ms  of the first occurrence
--   review   of it, which ends with it, or ''; report as lib/review.lua. owner is the group or the user that it is for
--   epoch    of that group, or '-'
--   audit_id, audited  what the audit gets of that; '': nothing
-- Returns {OK, 1 for a duplicate, then as schedule_record}
-- Refuses KEYREUSED, REVIEW
-- include: schedule
-- include: review
-- include: audit
local gone = review_gone(review)
if gone then return gone end
local before = redis.call('HGET', schedule, 'content')
if before then
  if before ~= content then return {'KEYREUSED'} end
  review_end(review, owner, report, nil, clock_ms())
  note_audit(epoch, audit_id, audited)
  return {'OK', 1, unpack(schedule_record())}
end

redis.call('HSET', schedule, 'plan', plan, 'content', content, 'state', 'pending', 'version', '1', 'created_ms', created_ms,
  'next_ms', next_ms, 'fired', '0', 'sent', '0', 'missed', '0')
review_end(review, owner, report, nil, clock_ms())
note_audit(epoch, audit_id, audited)
enqueue_occurrence('1', next_ms, clock_ms())
return {'OK', 0, unpack(schedule_record())}
