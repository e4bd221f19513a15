-- Makes scripts that write a message enqueue the fan-out of notifications, after a delay; see lib/log_grew.lua.
--
-- KEYS  wants
-- ARGV  delay_ms only:flag
--   only  changes the delay only if there is one already
-- Returns {OK}
if only and redis.call('HEXISTS', wants, 'notify') == 0 then return {'OK'} end
redis.call('HSET', wants, 'notify', delay_ms)
return {'OK'}
