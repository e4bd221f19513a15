-- Keeps a message to a group for a moderator, or answers with the review that its retry key stands for.
--
-- KEYS  last_id meta senders sent reviews reviewed wants core:enqueue
-- ARGV  user owner whose review who record held due_ms:int task_id reviews_max:int sender_max:int key content sent_ms keys_max:int
--   user       the sender
--   the others as lib/review_put.lua
-- Returns as lib/review_put.lua
-- Refuses NOTFOUND, and as lib/review_put.lua
-- include: review_put
if redis.call('EXISTS', meta) == 0 then return {'NOTFOUND'} end
local answer = review_put(redis.call('GET', last_id))
if answer[3] == 1 and key ~= '' then redis.call('ZADD', senders, int(clock_ms()), user) end
return answer
