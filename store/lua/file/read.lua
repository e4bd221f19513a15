-- Reads the record of a file that the user may see: an own one, or one that a message names which the user may read. Only
-- reads.
--
-- KEYS  last_id meta members joined msgs files files_named pinned
-- ARGV  user file
-- Returns {OK, the record, 1 if a message names it}
-- Refuses NOTFOUND, FORBIDDEN
-- include: not_member
-- include: file_named
local epoch, visibility, history = unpack(redis.call('HMGET', meta, 'epoch', 'visibility', 'history'))
if not epoch then return {'NOTFOUND'} end
if redis.call('HEXISTS', members, user) == 0 then return not_member(visibility) end
local f = file_read(file)
if not f then return {'NOTFOUND'} end
local newest = file_newest(file, f, file_first())
if not newest and (f.refs ~= '-' or tonumber(f.expires_ms) <= clock_ms()) then return {'NOTFOUND'} end
if f.owner ~= user then
  if not newest then return {'NOTFOUND'} end
  if history == '0' and newest < tonumber(redis.call('ZSCORE', joined, user)) then return {'NOTFOUND'} end
end
return {'OK', file_text(f), newest and 1 or 0}
