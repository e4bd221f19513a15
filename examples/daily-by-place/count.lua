-- Adds what lines of a part have for one day, and moves the fence, in one step.
-- KEYS: counts (HASH place -> lines of the day), fences (HASH log -> "<message id> <line>": everything up to there is counted)
-- ARGV: log, the fence as it was read ('': none), the fence from now on, then places and how many lines each
-- Returns 1, or 0 where the fence is another one by now.
local counts, fences = KEYS[1], KEYS[2]
local log, was, becomes = ARGV[1], ARGV[2], ARGV[3]
if (redis.call('HGET', fences, log) or '') ~= was then return 0 end
for i = 4, #ARGV, 2 do redis.call('HINCRBY', counts, ARGV[i], ARGV[i + 1]) end
redis.call('HSET', fences, log, becomes)
return 1
