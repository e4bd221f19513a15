-- Removes what an import has brought so far.
--
-- KEYS  staged staged_msgs staged_skip staged_reacted staged_reactions
-- ARGV  epoch
-- Returns {OK}
-- Refuses CONFLICT (another import is under way, or none)
if redis.call('HGET', staged, 'epoch') ~= epoch then return {'CONFLICT'} end
redis.call('UNLINK', staged, staged_msgs, staged_skip, staged_reacted, staged_reactions)
return {'OK'}
