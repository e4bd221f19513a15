-- Keeps a direct message for a moderator, or answers with the review that its retry key stands for.
--
-- KEYS  inbox inbox_base inbox_senders inbox_sent reviews reviewed wants core:enqueue
-- ARGV  user owner whose review who record held due_ms:int task_id reviews_max:int sender_max:int key content sent_ms keys_max:int
--   user       the sender
--   the others as lib/review_put.lua
-- Returns as lib/review_put.lua
-- Refuses as lib/review_put.lua
local sent = inbox_sent
-- include: review_put
local base, gaps = unpack(redis.call('HMGET', inbox_base, 'base', 'gaps'))
local answer = review_put(int(tonumber(base or 0) + tonumber(gaps or 0) + redis.call('LLEN', inbox)))
if answer[3] == 1 and key ~= '' then redis.call('ZADD', inbox_senders, int(clock_ms()), user) end
return answer
