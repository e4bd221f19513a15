-- Appends a message that names files, or was reviewed, as log/append.lua appends any other.
--
-- KEYS  last_id meta members msgs seen read skip senders reactions reacted joined wants files_named mutes slow expires files files_unused pinned reviews reviewed audit
--       core:enqueue own(by sent)... at... thread(threads replies)...
-- ARGV  file_ids names_max:int check_ms:int check_id known_only:flag review report audit_id audited audits_max:int channel group keys_max:int count:int durable:flag more
--       rows(from mark rest sent_ms key content)... mentions...
--   file_ids    separated by blanks
--   names_max   messages that name one file
--   check_ms    until a task looks for files that no message names any longer; check_id is its id
--   known_only  the files were not available: only a known retry key is answered
--   review      of the message, which ends with it, or ''; report as lib/review.lua
--   audit_id, audited  what the audit gets of that; '': nothing
--   the others as log/append.lua
-- Returns as log/append.lua
-- Refuses NOTFOUND; FILE if one is not a whole file of the sender in this group, NAMES; REVIEW if it is not there any longer
-- include: file_named
-- include: task_file
-- include: review
-- include: audit
local anyone, bytes_added = false, 0
-- bind: rows at rows
-- bind: own at own
local function append_message()
  -- include: append
end

local gone = review_gone(review)
if gone then return gone end
local found, refused, first = {}, known_only and {'FILE'} or nil, file_first()
for id in string.gmatch(file_ids, '%S+') do
  local f = file_read(id)
  local alive = file_alive(f, clock_ms()) and (f.refs == '-' or file_newest(id, f, first))
  if not alive or f.state ~= 'whole' or f.owner ~= from then
    refused = {'FILE'}
  elseif select(2, string.gsub(f.refs, '%d+', '')) >= names_max then
    refused = refused or {'NAMES'}
  else
    found[#found + 1] = {id, f}
    bytes_added = bytes_added + tonumber(f.size)
  end
end
-- A repeated send gets its answer even if its files have gone since.
if refused and (key == '' or redis.call('HEXISTS', sent, key) == 0) then return refused end
local answer = append_message()
local message = answer[5]
if type(message) ~= 'string' or not string.find(message, '^%d+/?%d*$') then return answer end

local now_ms = clock_ms()
message = string.match(message, '^%d+')
review_end(review, group, report, message, now_ms)
note_audit(answer[2], audit_id, audited)
if #found == 0 then return answer end
local before = redis.call('HINCRBY', meta, 'named_bytes', int(bytes_added)) - bytes_added
for _, one in ipairs(found) do
  local id, f = one[1], one[2]
  f.refs = f.refs == '-' and message or f.refs .. ',' .. message
  file_write(id, f)
  redis.call('ZREM', files_unused, id)
  redis.call('ZADD', files_named, message, message .. ' ' .. id .. ' ' .. int(before) .. ' ' .. f.size)
end
enqueue_file_check(check_id, now_ms + check_ms, now_ms)
return answer
