-- Reads the record of a file that the user may see: an own one, or one that a message names which the user may read. Only
-- reads.
--
-- KEYS  meta members joined files
-- ARGV  user file
-- Returns {OK, the record}
-- Refuses NOTFOUND, FORBIDDEN
-- include: not_member
-- include: file_record
local epoch, visibility, history = unpack(redis.call('HMGET', meta, 'epoch', 'visibility', 'history'))
if not epoch then return {'NOTFOUND'} end
if redis.call('HEXISTS', members, user) == 0 then return not_member(visibility) end
local f = file_read(file)
if not file_alive(f, clock_ms()) then return {'NOTFOUND'} end
if f.owner ~= user then
  if f.state ~= 'whole' or f.refs == '-' then return {'NOTFOUND'} end
  local newest = tonumber(string.match(f.refs, '%d+$'))
  if history == '0' and newest < tonumber(redis.call('ZSCORE', joined, user)) then return {'NOTFOUND'} end
end
return {'OK', file_text(f)}
