-- include: base
-- needs: skip
-- count_floor is where counting begins: at what was read, but no lower than the oldest message that is stored (stored is
-- how many are), no lower than the newest backlog_max messages, no lower than where the sets are whole (they were pruned
-- to an older, smaller backlog_max: pruned, false where never), and no lower than what a group without history hides:
-- joined is the id of the notice of joining there, false else.
local function count_floor(last, stored, read, backlog_max, pruned, joined)
  return math.max(read, last - stored, last - backlog_max, tonumber(pruned or 0), joined and tonumber(joined) - 1 or 0)
end

-- unread counts the messages above floor that are neither own (by: the key of these) nor to be skipped, each by two lookups:
-- ids are dense, so the messages themselves need no counting.
local function unread(last, floor, by)
  local above = '(' .. int(floor)
  return last - floor - redis.call('ZCOUNT', skip, above, '+inf') - redis.call('ZCOUNT', by, above, '+inf')
end
