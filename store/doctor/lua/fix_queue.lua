-- Sets the count of enqueued tasks to those that are stored or finished: the other counts say what was done.
--
-- KEYS  queue:work
-- Returns {OK}
-- bind: work at queue
local all = redis.call('ZCARD', delayed) + redis.call('ZCARD', leased) + redis.call('ZCARD', dead)
for _, list in ipairs({critical, high, normal, low}) do all = all + redis.call('LLEN', list) end
for _, total in ipairs(redis.call('HMGET', counts, 'done', 'dropped', 'deleted')) do all = all + tonumber(total or 0) end
redis.call('HSET', counts, 'enqueued', string.format('%.0f', all))
return {'OK'}
