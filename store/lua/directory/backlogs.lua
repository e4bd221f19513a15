-- Reads what groups keep only because members are behind, and who these are. Only reads.
--
-- KEYS  groups(last_id meta seen msgs files_named)...
-- ARGV  max:int
--   max  members of each group, the slowest first
-- Returns {OK, for each group {entries kept so, the oldest of them ('' if there is none), then user, entries behind, bytes of
--       files behind, the oldest entry that they have not seen ('' if it is not stored) of each member}, empty if there is no group}
-- include: base
local out = {'OK'}
for g = groups, #KEYS, groups_row do
  -- bind: groups at g
  -- include: backlog
  out[#out + 1] = backlog(max)
end
return out
