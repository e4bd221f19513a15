-- page_after returns the position in a sorted set behind an anchor, "<score> <member>". A position among equal scores cannot
-- be found again once the member there has left, so the page may then repeat some of that score.
local function page_after(key, newest_first, anchor)
  local score, member = string.match(anchor, '^(%S+) (.*)$')
  local at = redis.call(newest_first and 'ZREVRANK' or 'ZRANK', key, member)
  if at and redis.call('ZSCORE', key, member) == score then return at + 1 end
  if newest_first then return redis.call('ZCOUNT', key, '(' .. score, '+inf') end
  return redis.call('ZCOUNT', key, '-inf', '(' .. score)
end
