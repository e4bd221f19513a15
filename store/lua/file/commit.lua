-- Records how far an upload is, for the writer who holds its lock and may still post, and keeps the lock or gives it back.
--
-- KEYS  meta members mutes files
-- ARGV  user file token offset hash lock_ms:int
--   hash     state of the digest up to the offset
--   lock_ms  for how long the lock is kept; 0: it is given back
-- Returns {OK, the record}
-- Refuses NOTFOUND, FORBIDDEN, MUTED; LOST if another writer holds the lock
-- include: file_poster
-- include: file_record
local refused = file_poster()
if refused then return refused end
local f = file_read(file)
if not f then return {'NOTFOUND'} end
if f.state ~= 'open' or f.lock ~= token then return {'LOST'} end

f.offset, f.hash = offset, hash
if lock_ms > 0 then f.until_ms = int(clock_ms() + lock_ms) else f.lock, f.until_ms = '-', '0' end
file_write(file, f)
return {'OK', file_text(f)}
