-- Reads groups as one user sees them. Only reads.
--
-- KEYS  groups(last_id meta members joined seen read msgs skip by at at_all mutes threads replies)...
-- ARGV  user data:flag
--   by, at  of the user; at_all is at of `@all`
--   data    whether the data of groups is read
-- Returns {OK, info of the first group, of the second, ...}; an info is {epoch ('' if there is no group), name, visibility,
--       created_by, created_ms, keep, backlog_max, post, history, active_ms, newest, mark, floor, archived_from, late,
--       changed, trimmed ('<id> <mark>' of the newest trimmed entry), retain_days, overflow, backlog_bytes, direct, version,
--       data, slow_s, muted, join, pins, mention_all, alls, expire_s, receipts (nil for a field that does not exist), last, messages stored, members, archived, role,
--       joined_at ms, joined, seen, read, unread, mentions unread, 1 if they acted, muted until (nil for not muted), unread
--       replies in threads that they follow (nil without threads)}; the last ten only for a member
-- include: info
local out = {'OK'}
for i = groups, #KEYS, groups_row do
  -- bind: groups at i
  out[#out + 1] = info_of(user, last_id, meta, members, joined, seen, read, msgs, skip, by, at, at_all, mutes, threads, replies, data)
end
return out
