-- Ends the review of a message, which is not stored.
--
-- KEYS  reviews reviewed core:enqueue audit
-- ARGV  review owner report epoch audit_id audited audits_max:int
--   owner  the group, or the user whose inbox it was for
--   report   as lib/review.lua
--   epoch    of the group, or '-'
--   audit_id, audited  what the audit gets of it; '': nothing
-- Returns {OK}
-- Refuses REVIEW if it is not there any longer
-- include: base
-- include: review
-- include: audit
local gone = review_gone(review)
if gone then return gone end
review_end(review, owner, report, nil, clock_ms())
note_audit(epoch, audit_id, audited)
return {'OK'}
