-- Ends the review of a message, which is not stored.
--
-- KEYS  reviews reviewed core:enqueue
-- ARGV  review owner report
--   owner  the group, or the user whose inbox it was for
--   report   as lib/review.lua
-- Returns {OK}
-- Refuses REVIEW if it is not there any longer
-- include: base
-- include: review
local gone = review_gone(review)
if gone then return gone end
review_end(review, owner, report, nil, clock_ms())
return {'OK'}
