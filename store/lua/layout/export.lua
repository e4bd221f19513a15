-- Notes that an export of the store is under way, which anyone else who opens the store takes away: while it is there, nobody
-- has changed anything.
--
-- KEYS  layout
-- ARGV  id
--   id  of the file; empty: the export is complete
-- Returns {OK}
if id == '' then
  redis.call('HDEL', layout, 'export')
else
  redis.call('HSET', layout, 'export', id)
end
return {'OK'}
