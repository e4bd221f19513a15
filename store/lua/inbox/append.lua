-- Puts an item at the end of an inbox.
--
-- KEYS  inbox inbox_base inbox_senders inbox_server inbox_sent inbox_by blocks grown users unused wants reachable reviews reviewed audit
--       core:enqueue
-- ARGV  from rest mark sent_ms key content system:flag to_strangers:flag items_max:int cause by_max:int keys_max:int epoch channel user notify author look:flag review report audit_id audited audits_max:int
--   inbox_sent  of the sender
--   rest        of the JSON, after the seq
--   mark        of the item
--   cause       who caused the item, and inbox_by the seqs of theirs, of which by_max may be unacked, 0: any number
--   key         to repeat with, hashed, or ''
--   content     hashed, so that a key stands for one content only
--   system      the item is from the server
--   to_strangers  also to a user who has never used the server
--   items_max   unacked items of an inbox
--   keys_max    retry keys to keep
--   author      on whose account it comes, whom the user may block, or ''
--   epoch       of a new inbox
--   notify      high or low if the user gets notified while offline, or ''
--   review      of the item, which ends with it, or ''; report as lib/review.lua
--   audit_id, audited  what the audit gets of that; '': nothing
--   look        put nothing in, and answer with the seq and the time that the key stands for: 0 0 if it is not known and nothing is
--               against the item. Whether its sender may write to strangers is counted where it is put in
-- Returns as lib/inbox_put.lua
-- Refuses as lib/inbox_put.lua; REVIEW if it is not there any longer
local sent = inbox_sent
-- include: inbox_put
-- include: review
-- include: audit
if look then return inbox_put(user, channel, inbox, inbox_base, inbox_senders, inbox_server, look) end
local gone = review_gone(review)
if gone then return gone end
local answer = inbox_put(user, channel, inbox, inbox_base, inbox_senders, inbox_server)
if answer[1] == 'OK' then
  review_end(review, user, report, nil, clock_ms())
  note_audit('-', audit_id, audited)
end
return answer
