-- Returns what announce.lua has noted and what is not over, as it was written. Writes nothing.
--
-- KEYS  served
--
-- Errors: none of its own.
local t = redis.call('TIME')
local now_ms = tonumber(t[1]) * 1000 + math.floor(tonumber(t[2]) / 1000)
return redis.call('ZRANGEBYSCORE', served, string.format('(%.0f', now_ms), '+inf')
