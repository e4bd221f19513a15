-- Puts a group into a user's index, or brings an entry down that is above what the user has seen: it is of an earlier
-- membership, or of an earlier group of this id. The user hears of it in any case: whoever has the group in the index from
-- an earlier life would else not learn of this one.
--
-- KEYS  groups users
-- ARGV  group seen groups_max:int channel user
-- Returns {OK, 1 added, 0 was there, -1 the index is full}
local hint = redis.call('ZSCORE', groups, group)
local result = hint and 0 or 1
if result == 1 and redis.call('ZCARD', groups) >= groups_max then result = -1 end

if result == 1 or hint and tonumber(hint) > tonumber(seen) then redis.call('ZADD', groups, seen, group) end
redis.call('ZADD', users, 0, user)
redis.call('PUBLISH', channel, 'j ' .. group)
return {'OK', result}
