-- Notes which kinds of tasks a server runs, for a while. Servers with the same handlers write the
-- same members.
--
-- KEYS  served
-- ARGV  live_ms:int handlers...
--   live_ms   for how long, from now on
--   handlers  of each queue: "<queue> <kind> <kind> ..."; a kind that ends in * is a prefix
--
-- Returns how many members are kept.
-- Errors: none of its own.
local t = redis.call('TIME')
local now_ms = tonumber(t[1]) * 1000 + math.floor(tonumber(t[2]) / 1000)
redis.call('ZREMRANGEBYSCORE', served, '-inf', string.format('%.0f', now_ms))
for i = handlers, #ARGV do redis.call('ZADD', served, 'GT', string.format('%.0f', now_ms + live_ms), ARGV[i]) end
return redis.call('ZCARD', served)
