-- Notes how far an import has come, so that no server starts on half a store and an import that is repeated goes on.
--
-- KEYS  layout
-- ARGV  id lines:int
--   id     of the file; empty: the import is complete
--   lines  of it that are in the store
-- Returns {OK}
if id == '' then
  redis.call('HDEL', layout, 'import', 'import_lines')
else
  redis.call('HSET', layout, 'import', id, 'import_lines', lines)
end
return {'OK'}
