-- Takes the lock of an upload, for a writer who may post in the group. A whole file has no lock: its record is the answer.
--
-- KEYS  meta members mutes files
-- ARGV  user file token lock_ms:int node
--   token  of the lock
--   node   if it is not '', a lock whose token does not begin with it is of a node that is gone
-- Returns {OK, the record}
-- Refuses NOTFOUND, FORBIDDEN, MUTED, LOCKED
-- include: file_poster
-- include: file_record
local refused = file_poster()
if refused then return refused end
local f, now_ms = file_read(file), clock_ms()
if not file_alive(f, now_ms) or f.owner ~= user then return {'NOTFOUND'} end
if f.state ~= 'open' then return {'OK', file_text(f)} end
if f.lock ~= '-' and tonumber(f.until_ms) > now_ms and string.sub(f.lock, 1, #node) == node then return {'LOCKED'} end

f.lock, f.until_ms = token, int(now_ms + lock_ms)
file_write(file, f)
return {'OK', file_text(f)}
