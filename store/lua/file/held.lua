-- Reads the record of a file that a legal hold keeps: a message has named it. Only reads.
--
-- KEYS  meta files
-- ARGV  file
-- Returns {OK, the record}
-- Refuses NOTFOUND
-- include: file_record
-- include: hold
local f = file_read(file)
if not f or f.refs == '-' or not legal_hold() then return {'NOTFOUND'} end
return {'OK', file_text(f)}
