-- include: base
-- mentions_above counts the messages above floor that mention a member. at is of the member; at_all, nil where the group has none,
-- is that of `@all`, of which only what came after the member joined, at joined_id, is meant for them. What a member mentioned all in
-- is in their own at with a negative score, until they leave: it does not count for them.
local function mentions_above(floor, at, at_all, joined_id)
  local count = redis.call('ZCOUNT', at, '(' .. int(floor), '+inf')
  if not at_all then return count end
  floor = int(math.max(floor, tonumber(joined_id)))
  return count + redis.call('ZCOUNT', at_all, '(' .. floor, '+inf') - redis.call('ZCOUNT', at, '-inf', '(-' .. floor)
end
