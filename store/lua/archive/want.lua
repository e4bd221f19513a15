-- Makes scripts that write an entry enqueue its archiving, after a delay, and keeps what is not archived from being trimmed; or
-- ends both. See lib/log_grew.lua and lib/trim.lua. A partition remembers which archive was switched off, and that it is the
-- same one that is switched on again: see archive/ended.lua.
--
-- KEYS  wants
-- ARGV  delay_ms id
--   delay_ms  '' if there is no archive
--   id        of the database; without an archive, of the one that was switched off
-- Returns {OK}
if delay_ms == '' then
  if redis.call('HDEL', wants, 'archive') == 1 then redis.call('HSET', wants, 'archive_left', id) end
  redis.call('HDEL', wants, 'archive_back', 'archive_pass')
else
  if redis.call('HGET', wants, 'archive_left') == id then redis.call('HSET', wants, 'archive_back', id) end
  redis.call('HDEL', wants, 'archive_left')
  redis.call('HSET', wants, 'archive', delay_ms)
end
return {'OK'}
