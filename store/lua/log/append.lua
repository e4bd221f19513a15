-- include: append_entry.lua
-- include: append_args.lua
-- Appends an entry of a member, or gives the first answer again where the retry key is known.
--
-- KEYS  1 id, 2 meta, 3 members, 4 msgs, 5 seen, 6 read, 7 skip, 8 senders, 9 sent:<from>, 10 by:<from>, 11 reactions,
--       12 reacted, 13 joined, 14 wants; then, where they are needed, 15..22 of the core queue and at:<user> of each
--       mentioned user
-- ARGV  1 from, 2 kind, 3 mark, 4 rest of the JSON, 5 sent_at in ms, 6 retry key, 7 hash of the content, 8 reply_to,
--       9 target, 10 emoji, 11 '1' to remove the reaction, 12 '1' for a durable answer, 13 channel, 14 retry keys to
--       keep, 15 emoji on a message, 16 group, 17 id for a task, then the mentioned users
-- Returns as append_entry
-- Refuses as append_entry
local k, a = append_args()
return append_entry(k, a)
