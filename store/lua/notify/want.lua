-- Makes scripts that write a message enqueue the fan-out of notifications, after a delay; see lib/wants.lua.
--
-- KEYS  1 wants
-- ARGV  1 delay in ms, 2 '1' to change it only where there is one
-- Returns {OK}
local wants, delay_ms, only = KEYS[1], ARGV[1], ARGV[2] == '1'

if only and redis.call('HEXISTS', wants, 'notify') == 0 then return {'OK'} end
redis.call('HSET', wants, 'notify', delay_ms)
return {'OK'}
