-- Begins an import of messages into a new group, or returns how far the one that was begun has come.
--
-- KEYS  meta gone_members gone_senders gone_files import
-- ARGV  file epoch
--   file   names what is imported
--   epoch  of the new group, if this is the first step of its import; '' begins none
-- Returns {OK, file and epoch of the import that is under way ('' if none is), id up to which its entries are there}, or
--         {OK, file, '', 0} if the group was made by an import of this file
-- Refuses EXISTS; GONE if the members of an earlier group with this id are not cleaned up yet
local has_epoch, imported = unpack(redis.call('HMGET', meta, 'epoch', 'imported'))
if has_epoch then
  if file ~= '' and imported == file then return {'OK', file, '', 0} end
  return {'EXISTS'}
end
if redis.call('EXISTS', gone_members, gone_senders, gone_files) > 0 then return {'GONE'} end
local under_way = redis.call('HMGET', import, 'file', 'epoch', 'at')
if under_way[1] then return {'OK', unpack(under_way)} end
if epoch == '' then return {'OK', '', '', 0} end
redis.call('HSET', import, 'file', file, 'epoch', epoch, 'at', 0)
return {'OK', file, epoch, 0}
