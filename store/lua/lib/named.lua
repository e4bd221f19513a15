-- needs: named group
-- list_group puts a group on the list of all groups, by its id and its folded name. An id contains no NUL, so the last one separates it
-- from what stands before.
local function list_group(folded)
  redis.call('ZADD', named, 0, '=' .. group .. '\0' .. group, 0, '>' .. folded .. '\0' .. group)
end

-- unlist_name takes the entry by a folded name off the list; false: it has none.
local function unlist_name(folded)
  if folded then redis.call('ZREM', named, '>' .. folded .. '\0' .. group) end
end
