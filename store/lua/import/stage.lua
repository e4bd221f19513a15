-- Adds entries to an import. They are part of no log yet. Adding them again changes nothing.
--
-- KEYS  import import_msgs import_skip import_reacted import_reactions
-- ARGV  epoch from:int to:int rows(set score member)...
--   from, to  the ids that this step is about; those that only the archive gets have no row
--   set       msgs, skip, reacted or reactions
-- Returns {OK}
-- Refuses CONFLICT (it is not under way any longer, or lacks entries before these)
local has_epoch, at = unpack(redis.call('HMGET', import, 'epoch', 'at'))
if has_epoch ~= epoch or tonumber(at) < from - 1 then return {'CONFLICT'} end
local sets = {msgs = import_msgs, skip = import_skip, reacted = import_reacted, reactions = import_reactions}

if tonumber(at) < to then redis.call('HSET', import, 'at', to) end
for i = rows, #ARGV, rows_row do
  -- bind: rows at i
  redis.call('ZADD', sets[set], score, member)
end
return {'OK'}
