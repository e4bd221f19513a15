-- include: base
-- count_floor returns where counting starts: at read, but no lower than the oldest message that can be read (in the
-- archive, archived_from, or false if there is none; else in the store, which has stored of them), the newest
-- backlog_max messages, the point from which the sets are complete (they were pruned to an older, smaller backlog_max:
-- pruned, false if never), and what a group without history hides: joined is then the id of the notice of joining, else
-- false.
local function count_floor(last, stored, archived_from, read, backlog_max, pruned, joined)
  local gone = archived_from and tonumber(archived_from) - 1 or last - stored
  return math.max(read, gone, last - backlog_max, tonumber(pruned or 0), joined and tonumber(joined) - 1 or 0)
end

-- unread counts the messages above floor that are neither the user's own (by is their key) nor in skip, with two
-- lookups: ids are dense, so the messages themselves need not be counted.
local function unread(last, floor, skip, by)
  local above = '(' .. int(floor)
  return last - floor - redis.call('ZCOUNT', skip, above, '+inf') - redis.call('ZCOUNT', by, above, '+inf')
end
