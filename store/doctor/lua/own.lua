-- Checks what a group keeps about one user: the ids of own messages, or of mentions. Only reads.
--
-- KEYS  last_id meta members senders gone_members gone_senders msgs own
-- ARGV  user
-- Returns {OK, 1 if the group exists, its last id, 1 for a member, 1 for a sender, 1 if the user waits for cleanup, 1 if
--       anything else of the group is left, how many ids, the lowest, the highest}
local function listed(list) return redis.call('ZSCORE', list, user) and 1 or 0 end
return {'OK', redis.call('EXISTS', meta), redis.call('GET', last_id) or '0', redis.call('HEXISTS', members, user), listed(senders),
  math.max(listed(gone_members), listed(gone_senders)), redis.call('EXISTS', last_id, members, msgs),
  redis.call('ZCARD', own), redis.call('ZRANGE', own, 0, 0, 'WITHSCORES')[2] or '0',
  redis.call('ZRANGE', own, -1, -1, 'WITHSCORES')[2] or '0'}
