-- Forgets when messages go that are gone, and has a task wait for the next ones.
--
-- KEYS  meta expires wants core:enqueue
-- ARGV  group epoch gone...
--   gone  ids, 500 at most
-- Returns {OK}
-- Refuses NOTFOUND (this life of the group is over)
-- include: expire_plan
if redis.call('HGET', meta, 'epoch') ~= epoch then return {'NOTFOUND'} end
if #ARGV >= gone then redis.call('ZREM', expires, unpack(ARGV, gone)) end
plan_expire(epoch, clock_ms())
return {'OK'}
