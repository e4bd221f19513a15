-- Checks what a group keeps about one user: the ids of own messages, or of mentions. In at, a negative score is that of a message
-- in which the user mentioned all: at_all has it too, where it counts. Only reads.
--
-- KEYS  last_id meta members senders gone_members gone_senders msgs at_all own
-- ARGV  user
-- Returns {OK, 1 if the group exists, its last id, 1 for a member, 1 for a sender, 1 if the user waits for cleanup, 1 if
--       anything else of the group is left, how many ids, the lowest, the highest, 1 if the group counts mentions of all,
--       how many ids with a negative score at_all lacks, among 500}
-- include: base
local function listed(list) return redis.call('ZSCORE', list, user) and 1 or 0 end
local backlog_max, floor, alls = unpack(redis.call('HMGET', meta, 'backlog_max', 'floor', 'alls'))
local last = tonumber(redis.call('GET', last_id) or 0)
floor = math.max(last - tonumber(backlog_max or 0), tonumber(floor or 0), 0)
local lacks = 0
for _, id in ipairs(redis.call('ZRANGEBYSCORE', own, '-inf', '(-' .. int(floor), 'LIMIT', 0, 500)) do
  if not redis.call('ZSCORE', at_all, id) then lacks = lacks + 1 end
end
return {'OK', redis.call('EXISTS', meta), int(last), redis.call('HEXISTS', members, user), listed(senders),
  math.max(listed(gone_members), listed(gone_senders)), redis.call('EXISTS', last_id, members, msgs),
  redis.call('ZCARD', own), redis.call('ZRANGE', own, 0, 0, 'WITHSCORES')[2] or '0',
  redis.call('ZRANGE', own, -1, -1, 'WITHSCORES')[2] or '0', alls and 1 or 0, lacks}
