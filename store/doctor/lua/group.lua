-- Reads a group's settings, where its log begins and ends, and how many entries each of its lists has. Only reads.
--
-- KEYS  last_id meta members joined managers seen read msgs skip levels notified gone_members gone_senders public member_data named
-- ARGV  group
-- Returns {OK, 1 if members or senders of a deleted group of this id wait for cleanup, then fields and values of meta as a
--       list, then last ('' if there is none), messages stored, lowest and highest id stored, the beginning of the
--       highest, members, joined, managers, seen without $archive, read, the highest of seen, of read and of skip, the
--       owner's value in members, levels, notified, 1 if the group is on the list of public groups, users with
--       custom fields, 2 if the group is on the list of all groups by its id and by its folded name}
local function highest(set) return redis.call('ZRANGE', set, -1, -1, 'WITHSCORES')[2] or '0' end
local out = {'OK', redis.call('EXISTS', gone_members, gone_senders), redis.call('HGETALL', meta)}
local owner, name, folded = unpack(redis.call('HMGET', meta, 'owner', 'name', 'folded'))
local newest = redis.call('ZRANGE', msgs, -1, -1, 'WITHSCORES')
local archive = redis.call('ZSCORE', seen, '$archive') and 1 or 0
for _, value in ipairs({
  redis.call('GET', last_id) or '', redis.call('ZCARD', msgs), redis.call('ZRANGE', msgs, 0, 0, 'WITHSCORES')[2] or '0',
  newest[2] or '0', string.sub(newest[1] or '', 1, 64), redis.call('HLEN', members), redis.call('ZCARD', joined),
  redis.call('ZCARD', managers), redis.call('ZCARD', seen) - archive, redis.call('ZCARD', read), highest(seen), highest(read),
  highest(skip), owner and redis.call('HGET', members, owner) or '', redis.call('HLEN', levels), redis.call('ZCARD', notified),
  redis.call('ZSCORE', public, (name or '') .. '\0' .. group) and 1 or 0, redis.call('HLEN', member_data),
  redis.call('ZSCORE', named, '=' .. group .. '\0' .. group) and redis.call('ZSCORE', named, '>' .. (folded or '') .. '\0' .. group) and 2 or 1,
}) do out[#out + 1] = value end
return out
