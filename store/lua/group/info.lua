-- Reads a group as one user stands to it. Only reads.
--
-- KEYS  last_id meta members joined seen read msgs skip by at
-- ARGV  user
--   by, at  of the user
-- Returns {OK, epoch ('' where there is no group), name, visibility, created_by, created_ms, keep, backlog_max, post,
--       history, active_ms, newest, mark, last, messages stored, members, role, joined_at ms, joined, seen, read, unread,
--       mentions unread, 1 where they acted}; the last eight only for a member
-- include: info
return out
