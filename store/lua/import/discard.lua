-- Removes what an import has brought so far.
--
-- KEYS  import import_msgs import_skip import_reacted import_reactions
-- ARGV  epoch
-- Returns {OK}
-- Refuses CONFLICT (another import is under way, or none)
if redis.call('HGET', import, 'epoch') ~= epoch then return {'CONFLICT'} end
redis.call('UNLINK', import, import_msgs, import_skip, import_reacted, import_reactions)
return {'OK'}
