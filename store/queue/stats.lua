-- Counts the tasks of one partition by state, all at one instant. Writes nothing.
--
-- KEYS  those of Keys.work()
-- ARGV  none
--
-- Returns {critical, high, normal, low, delayed, leased, dead, paused, enqueued, done,
-- failed, crashed, buried, dropped}.
-- Errors: none of its own.
local reply = {}
for p = 1, 4 do reply[p] = redis.call('LLEN', KEYS[4 + p]) end
reply[5] = redis.call('ZCARD', delayed)
reply[6] = redis.call('ZCARD', leased)
reply[7] = redis.call('ZCARD', dead)
reply[8] = redis.call('EXISTS', paused)
local totals = redis.call('HMGET', counts, 'enqueued', 'done', 'failed', 'crashed', 'buried', 'dropped')
for i = 1, 6 do reply[8 + i] = tonumber(totals[i] or '0') end
return reply
