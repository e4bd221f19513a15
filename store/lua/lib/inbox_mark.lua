-- include: inbox_items
-- needs: inbox inbox_base
-- inbox_mark returns the mark at a seq, `-` if it is unknown: a seq that is not among the items is base, or the end if
-- the newest was dropped, or unknown. rank is that of the seq.
local function inbox_mark(seq, rank, base, last)
  local item = rank > 0 and redis.call('LINDEX', inbox, rank - 1)
  if item and inbox_seq(item) == seq then return inbox_mark_of(item) end
  if seq == base then return redis.call('HGET', inbox_base, 'base_mark') or '-' end
  return seq == last and redis.call('HGET', inbox_base, 'end_mark') or '-'
end
