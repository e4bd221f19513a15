-- Appends plain messages to a group while nobody wants to know of new entries.
--
-- KEYS  last_id meta msgs seen read skip senders reactions reacted wants own(by sent)...
-- ARGV  channel group keys_max:int plain(from mark rest sent_ms key content)...
--   own    of the sender of each message
--   plain  as in log/append.lua
-- Returns as lib/plain.lua
local core = nil
-- include: plain
