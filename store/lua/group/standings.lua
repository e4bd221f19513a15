-- Reads the standing of users in groups: like group/infos.lua, but without counts, and with the data of each group only once for
-- all users. Only reads.
--
-- KEYS  groups(last_id meta members joined seen read msgs)...
-- ARGV  users...
--   users  for each group how many ask, then who
-- Returns {OK, the group, those who ask, ... for each}. A group is {epoch ('' if there is none), visibility, history, mark,
--       archived_from, late, changed, trimmed ('<id> <mark>' of the newest trimmed entry) (nil for a field that does not
--       exist), last, messages stored, members, archived, 1 if streams are open}; those who ask are {role, joined (nil
--       if history is not hidden), seen, read, ... for each}, nil for one who is not a member
local call, out, at = redis.call, {'OK'}, users
for i = groups, #KEYS, groups_row do
  -- bind: groups at i
  local asking = tonumber(ARGV[at])
  local group, them = call('HMGET', meta, 'epoch', 'visibility', 'history', 'mark', 'archived_from', 'late', 'changed', 'trimmed', 'streams'), {}
  if group[1] then
    group[13] = group[9]
    group[9], group[10], group[11] = call('GET', last_id), call('ZCARD', msgs), call('HLEN', members)
    -- archived_from exists while there is an archive.
    group[12] = group[5] and call('ZSCORE', seen, '$archive')
    local roles = call('HMGET', members, unpack(ARGV, at + 1, at + asking))
    local since = group[3] == '0' and call('ZMSCORE', joined, unpack(ARGV, at + 1, at + asking)) or {}
    local acked = call('ZMSCORE', seen, unpack(ARGV, at + 1, at + asking))
    local seen_by = call('ZMSCORE', read, unpack(ARGV, at + 1, at + asking))
    for j = 1, asking do
      them[4 * j - 3] = roles[j] and string.match(roles[j], '^%S+')
      them[4 * j - 2], them[4 * j - 1], them[4 * j] = since[j] or false, acked[j], seen_by[j]
    end
  else
    group = {''}
    for j = 1, 4 * asking do them[j] = false end
  end
  out[#out + 1] = group
  out[#out + 1] = them
  at = at + asking + 1
end
return out
