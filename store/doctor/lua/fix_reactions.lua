-- Writes the counts of the reactions to a message, unless the log has changed since they were counted.
--
-- KEYS  last_id msgs reactions
-- ARGV  last stored target counts...
--   last, stored  of the log when they were counted
--   counts        `<target> <emoji> <count>` of each
-- Returns {OK}
if redis.call('GET', last_id) ~= last or redis.call('ZCARD', msgs) ~= tonumber(stored) then return {'OK'} end
redis.call('ZREMRANGEBYSCORE', reactions, target, target)
for i = counts, #ARGV do redis.call('ZADD', reactions, target, ARGV[i]) end
return {'OK'}
