-- Keeps the lock of an upload for longer, for the writer who holds it.
--
-- KEYS  files
-- ARGV  file token lock_ms:int
-- Returns {OK}
-- Refuses LOST if another writer holds the lock, or nobody
-- include: file_record
local f = file_read(file)
if not f or f.state ~= 'open' or f.lock ~= token then return {'LOST'} end

f.until_ms = int(clock_ms() + lock_ms)
file_write(file, f)
return {'OK'}
