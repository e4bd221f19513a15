-- Puts an announcement into the inboxes of a page of users, and advances its part.
--
-- KEYS  part grown users unused wants reachable core:enqueue inboxes(inbox inbox_base inbox_senders inbox_server)...
-- ARGV  run cursor next_cursor last_page:flag from rest mark sent_ms items_max:int epoch names...
--   inboxes      of each user
--   cursor       where the page begins
--   next_cursor  where it ends
--   rest         of the JSON, after the seq
--   items_max    in an inbox
--   epoch        of a new inbox
--   names        of the users
-- Returns {OK, 1 done now, 0 if the part is elsewhere}
local sent, key, content, system, keys_max, inbox_by, cause, by_max, to_strangers, blocks, author =
  nil, '', '', true, 0, nil, '', 0, true, nil, ''
local notify = redis.call('EXISTS', wants) == 1 and 'low' or ''
-- include: announce_fence
-- include: inbox_put
local p = announce_at()
if not p then return {'OK', 0} end

local position, dropped = inboxes, 0
for i = names, #ARGV do
  -- bind: inboxes at position
  local put = inbox_put(ARGV[i], string.match(inbox, '^(.*):inbox$'), inbox, inbox_base, inbox_senders, inbox_server)
  dropped, position = dropped + put[6], position + inboxes_row
end
announce_move(p, #ARGV - names + 1 - dropped, dropped)
return {'OK', 1}
