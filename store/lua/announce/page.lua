-- include: announce_fence.lua
-- include: inbox_put.lua
-- Puts an announcement into the inboxes of a page of users, and moves its part on.
--
-- KEYS  1 part, 2 users, 3 wants, 4 reachable, 5..12 of the core queue, then inbox, inbox:base and inbox:senders of each user
-- ARGV  1 run, 2 cursor where the page begins, 3 cursor after it, 4 '1' for the last page, 5 from, 6 rest of the JSON,
--       7 sent_at in ms, 8 items at most, 9 epoch for a new inbox, then the users
-- Returns {OK, 1 done now, 0 where the part is elsewhere}
local part, users, wants, reachable, qk = KEYS[1], KEYS[2], KEYS[3], KEYS[4], 5
local run, cursor, next_cursor, last, from, rest, sent_ms = ARGV[1], ARGV[2], ARGV[3], ARGV[4] == '1', ARGV[5], ARGV[6], ARGV[7]
local items_max, epoch = tonumber(ARGV[8]), ARGV[9]

local p = announce_at(part, run, cursor)
if not p then return {'OK', 0} end
local notify = redis.call('EXISTS', wants) == 1 and 'low' or ''

for i = 10, #ARGV do
  local at = 13 + 3 * (i - 10)
  inbox_put({
    inbox = KEYS[at], base = KEYS[at + 1], senders = KEYS[at + 2], users = users, wants = wants, reachable = reachable, qk = qk,
  }, {
    from = from, rest = rest, sent_ms = sent_ms, key = '', content = '', system = true, items_max = items_max, epoch = epoch,
    channel = string.match(KEYS[at], '^(.*):inbox$'), user = ARGV[i], notify = notify,
  })
end
announce_move(part, p, next_cursor, last, #ARGV - 9, 0)
return {'OK', 1}
