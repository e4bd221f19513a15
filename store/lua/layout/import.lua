-- Records how far an import has come, so that no server starts on half a store and a repeated import goes on.
--
-- KEYS  layout
-- ARGV  id lines:int
--   id     of the file
--   lines  of it that are in the store; -1: the import is complete, which stays recorded until anyone else opens the store
-- Returns {OK}
if lines < 0 then
  redis.call('HDEL', layout, 'import', 'import_lines')
  redis.call('HSET', layout, 'imported', id)
else
  redis.call('HSET', layout, 'import', id, 'import_lines', lines)
end
return {'OK'}
