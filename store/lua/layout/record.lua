-- Records the version of the layout of a new store, or returns that of an old one.
--
-- KEYS  layout
-- ARGV  version exports:flag import life
--   exports  the caller exports the store; anyone else may change it, so that an export that was interrupted begins again
--   import   id of the file that the caller imports; '': none
--   life     random: kept where there is none yet, so that a store that was emptied shows
-- Returns {OK, version, id of the file whose import is under way or '', how many of its lines are in the store, id of the file
--       whose export is under way or '', id of the file whose import is complete, without anyone having opened the store since, or ''}.
--       What is recorded is only read, so this works on a full server too.
local known, begun, lines, export, imported, has_life =
  unpack(redis.call('HMGET', layout, 'version', 'import', 'import_lines', 'export', 'imported', 'life'))
if not known then redis.call('HSET', layout, 'version', version) end
if not has_life then redis.pcall('HSET', layout, 'life', life) end
-- The groups of a new store are all listed, unless it is about to get those of a file.
if not known and import == '' then redis.call('HSET', layout, 'listed', '1') end
if export and not exports then redis.call('HDEL', layout, 'export') end
if imported and not exports and imported ~= import then
  redis.call('HDEL', layout, 'imported')
  imported = nil
end
return {'OK', known or version, begun or '', lines or 0, export or '', imported or ''}
