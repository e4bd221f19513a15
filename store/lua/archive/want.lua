-- Makes scripts that write an entry enqueue its archiving, after a delay, and keeps what is not archived from being trimmed; or
-- ends both. See lib/log_grew.lua and lib/trim.lua.
--
-- KEYS  wants
-- ARGV  delay_ms
--   delay_ms  '' where there is no archive
-- Returns {OK}
if delay_ms == '' then
  redis.call('HDEL', wants, 'archive')
else
  redis.call('HSET', wants, 'archive', delay_ms)
end
return {'OK'}
