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
