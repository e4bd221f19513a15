-- Puts an item at the end of an inbox.
--
-- KEYS  inbox inbox_base inbox_senders inbox_server inbox_sent users | wants reachable core:enqueue
-- ARGV  from rest mark sent_ms key content system:flag items_max:int keys_max:int epoch channel user notify
--   inbox_sent  of the sender
--   rest        of the JSON, behind the seq
--   mark        of the item
--   key         to repeat with, hashed, or ''
--   content     hashed, so that a key stands for one content only
--   system      the item is of the server
--   items_max   in an inbox that are not acked
--   keys_max    retry keys to keep
--   epoch       of a new inbox
--   notify      high or low where the user is notified while away, or ''
-- Returns as lib/inbox_put.lua
-- Refuses as lib/inbox_put.lua
local sent = inbox_sent
-- include: inbox_put
return inbox_put(user, channel, inbox, inbox_base, inbox_senders, inbox_server)
