-- needs: kept
-- keep_held keeps an entry of a group under legal hold as it read before an edit or a deletion, by the id of that: until the hold
-- ends, operators get it in their exports. was is its JSON.
local function keep_held(entry_id, change_id, was)
  redis.call('ZADD', kept, entry_id, change_id .. ' ' .. was)
end
