-- Adds a group to a user's index, or lowers an entry that is above what the user has seen: it is from an earlier
-- membership, or from an earlier group with this id. The user gets a signal in any case: a session that has the group
-- from an earlier life would otherwise not learn of this one.
--
-- KEYS  groups users unused blocks
-- ARGV  group seen groups_max:int channel user by
--   seen        or -1 - seen if someone else added the user, who has not acted there yet
--   groups_max  of those, and of the others
--   by          who added the user, whom the user may block, or ''
-- Returns {OK, 1 added, 0 existed, -1 the index is full}
-- Refuses BLOCKS
local hint = redis.call('ZSCORE', groups, group)
local result = hint and 0 or 1
if result == 1 and by ~= '' and redis.call('ZSCORE', blocks, by) then return {'BLOCKS'} end
if result == 1 then
  local invited = redis.call('ZCOUNT', groups, '-inf', '(0')
  local all = redis.call('ZCARD', groups)
  if all >= 2 * groups_max or (tonumber(seen) < 0 and invited or all - invited) >= groups_max then result = -1 end
end

local function seen_of(score) return score < 0 and -1 - score or score end
local score = tonumber(seen)
if hint then
  local before = tonumber(hint)
  local lowest = math.min(seen_of(before), seen_of(score))
  -- Once the user has acted in the group or joined it, the entry counts as the user's own, whatever comes later.
  score = (before >= 0 or score >= 0) and lowest or -1 - lowest
end
if result == 1 or hint and score ~= tonumber(hint) then redis.call('ZADD', groups, string.format('%.0f', score), group) end
if redis.call('ZADD', users, 0, user) == 1 then redis.call('SADD', unused, user) end
redis.call(PUBLISH, channel, 'j ' .. group)
return {'OK', result}
