-- include: base
-- An inbox is a LIST of items, oldest first, and a HASH. An item is its mark and then `{"seq":N,...`, without the mark
-- if an earlier version wrote it. Seqs ascend by one, except for items that were dropped for lack of room: gaps is how
-- many are missing above base, so that last = base + items + gaps, and without gaps the seq of an item is base plus its
-- position.

-- inbox_seq and inbox_mark_of return the seq and the mark of an item; the mark is `-` if there is none.
local function inbox_seq(item) return tonumber(string.match(item, '^[^{]*{"seq":(%d+)')) end

local function inbox_mark_of(item)
  local mark = string.match(item, '^[^{]*')
  return mark ~= '' and mark or '-'
end

-- inbox_rank counts the items up to and including a seq. Without gaps this is known, otherwise it takes a binary
-- search.
local function inbox_rank(inbox, seq, stored, base, last)
  local low = math.max(stored - math.max(last - seq, 0), 0)
  local high = math.min(stored, math.max(seq - base, 0))
  while low < high do
    local middle = math.floor((low + high) / 2)
    if inbox_seq(redis.call('LINDEX', inbox, middle)) <= seq then low = middle + 1 else high = middle end
  end
  return low
end
