-- Removes the reports of a group that an erased user made, and those about what they wrote.
--
-- KEYS  meta reports reporters reported
-- ARGV  group epoch user last:int
--   last  what comes behind it is of another person who has the name
-- Returns {OK}
-- include: drop_reports
if redis.call('HGET', meta, 'epoch') ~= epoch then return {'OK'} end
drop_reports(function(r) return r.target <= last and (r.from == user or r.by == user) end)
return {'OK'}
