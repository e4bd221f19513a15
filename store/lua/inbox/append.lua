-- include: inbox_put.lua
-- Puts an item at the end of an inbox.
--
-- KEYS  1 inbox, 2 inbox:base, 3 inbox:senders, 4 inbox:sent:<from>, 5 users; then, where 12 is given, 6 wants,
--       7 reachable, 8..15 of the core queue
-- ARGV  1 from, 2 rest of the JSON, 3 sent_at in ms, 4 retry key, 5 hash of the content, 6 '1' for an item of the
--       server, 7 items at most, 8 retry keys to keep, 9 epoch for a new inbox, 10 channel, 11 user,
--       12 high or low where the user is told while away, or ''
-- Returns as inbox_put
-- Refuses as inbox_put
local k, a = inbox_args(1, 1)
return inbox_put(k, a)
