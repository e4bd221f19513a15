-- include: task_review
-- needs: reviews reviewed core
-- The messages that wait for a moderator are fields of the HASH reviews of their group, or of the user whose inbox they are for, by
-- ids that chat.NewReviewID makes; reviewed leads from an id to its owner.

-- review_gone refuses a review that is not there any longer; nil: go on. An empty id is none.
local function review_gone(review)
  if review ~= '' and redis.call('HEXISTS', reviews, review) == 0 then return {'REVIEW'} end
end

-- review_end takes a review of an owner away, and tells its sender. report is the payload of the task for that without its last brace,
-- or '' where nobody is told; entry_id is that of the message that it became, or nil.
local function review_end(review, owner, report, entry_id, now_ms)
  if review == '' then return end
  redis.call('HDEL', reviews, review)
  redis.call('ZREM', reviewed, review .. '\0' .. owner)
  if report ~= '' then enqueue_review(review .. '.end', report .. (entry_id and ',"id":' .. entry_id or '') .. '}', now_ms) end
end
