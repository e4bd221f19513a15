-- Looks at the open quorums of a group again: members have left, or messages are gone.
--
-- KEYS  meta joined read msgs quorums core:enqueue
-- ARGV  group
-- Returns {OK}
-- include: quorum
if redis.call('HEXISTS', meta, 'quorums') == 1 then quorum_each(nil, false) end
return {'OK'}
