-- Counts the tasks of a queue in one partition, at one instant. Only reads.
--
-- KEYS  queue:work
-- Returns {OK, how many tasks are stored, are in a state, have finished, and were ever enqueued}
-- bind: work at queue
local in_state = redis.call('ZCARD', delayed) + redis.call('ZCARD', leased) + redis.call('ZCARD', dead)
for _, list in ipairs({critical, high, normal, low}) do in_state = in_state + redis.call('LLEN', list) end
local totals, over = redis.call('HMGET', counts, 'enqueued', 'done', 'dropped', 'deleted'), 0
for i = 2, 4 do over = over + tonumber(totals[i] or 0) end
return {'OK', redis.call('HLEN', tasks), in_state, over, tonumber(totals[1] or 0)}
