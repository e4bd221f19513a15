-- Records that an export of the store is under way. Anything else that opens the store removes that, so while it is there, nothing
-- has changed.
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
