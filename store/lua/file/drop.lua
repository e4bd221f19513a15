-- Removes a file or an upload of an erased user, or one that lost its bytes, without checking rights; unless a message still names
-- it, or has named it and the group is under a legal hold.
--
-- KEYS  last_id meta msgs files files_unused files_named pinned files_of core:enqueue
-- ARGV  group user file
-- Returns {OK}
-- include: file_named
-- include: file_remove
-- include: hold
local f = file_read(file)
local held = f and f.refs ~= '-' and legal_hold()
if f and f.owner == user and not held and not file_newest(file, f, file_first()) then file_remove(file, f, clock_ms()) end
return {'OK'}
