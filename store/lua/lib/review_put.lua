-- include: base
-- include: retry
-- include: task_review
-- needs: reviews reviewed core wants sent owner whose review who record held due_ms task_id reviews_max sender_max key content sent_ms keys_max
-- review_put keeps a message for a moderator, and its retry key, which stands for the review from then on. last is where the log or the
-- inbox ends: retry keys go by age.
--
-- owner   the group, or the user whose inbox the message is for
-- whose   the same, as the payload of the task that ends it at due_ms
-- review  its id, in which who is the same for all of one sender
-- held    payload of the task that tells webhooks
-- Returns {OK, id, 1 if it is new}; the id is '' where the key stands for a message that is stored. Or a refusal: KEYREUSED, REVIEWS,
-- REVIEWSOF
local function review_put(last)
  if redis.call('HEXISTS', reviews, review) == 1 then return {'OK', review, 0} end
  local first_time = known(key, content, false)
  if first_time then return first_time.refused or {'OK', string.match(first_time.mark, '^review:(.*)$') or '', 0} end
  local waiting, theirs = redis.call('HKEYS', reviews), 0
  if #waiting >= reviews_max then return {'REVIEWS'} end
  for _, other in ipairs(waiting) do
    if string.sub(other, 21, 28) == who then theirs = theirs + 1 end
  end
  if theirs >= sender_max then return {'REVIEWSOF'} end
  local now_ms = clock_ms()
  redis.call('HSET', reviews, review, record)
  redis.call('ZADD', reviewed, 0, review .. '\0' .. owner)
  if key ~= '' then remember(key, last, sent_ms, 'review:' .. review, content, keys_max) end
  enqueue_reviews(task_id, whose, due_ms, now_ms)
  if redis.call('HEXISTS', wants, 'webhooks') == 1 then enqueue_review(review .. '.held', held, now_ms) end
  return {'OK', review, 1}
end
