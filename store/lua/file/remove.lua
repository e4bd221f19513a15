-- Removes an own file that no message names, or an upload.
--
-- KEYS  last_id meta members msgs files files_unused files_named pinned files_of core:enqueue
-- ARGV  group user file
-- Returns {OK}
-- Refuses NOTFOUND, FORBIDDEN; USED if a message names it
-- include: not_member
-- include: file_named
-- include: file_remove
local epoch, visibility = unpack(redis.call('HMGET', meta, 'epoch', 'visibility'))
if not epoch then return {'NOTFOUND'} end
if redis.call('HEXISTS', members, user) == 0 then return not_member(visibility) end
local f, now_ms = file_read(file), clock_ms()
if not file_alive(f, now_ms) or f.owner ~= user then return {'NOTFOUND'} end
if file_newest(file, f, file_first()) then return {'USED'} end

file_remove(file, f, now_ms)
return {'OK'}
