-- Makes an upload a whole file, for the writer who holds its lock. Finishing again changes nothing.
--
-- KEYS  meta members mutes files files_unused
-- ARGV  user file token json within_ms:int
--   json       of the file, as messages show it
--   within_ms  after which it expires unless a message names it
-- Returns {OK, the record}
-- Refuses NOTFOUND, FORBIDDEN, MUTED, LOST
-- include: file_poster
-- include: file_record
local refused = file_poster()
if refused then return refused end
local f = file_read(file)
if not f then return {'NOTFOUND'} end
if f.state == 'whole' then return {'OK', file_text(f)} end
if f.lock ~= token or f.offset ~= f.size then return {'LOST'} end

f.state, f.lock, f.until_ms, f.hash, f.json = 'whole', '-', '0', '-', json
f.expires_ms = int(clock_ms() + within_ms)
file_write(file, f)
redis.call('ZADD', files_unused, f.expires_ms, file)
return {'OK', file_text(f)}
