-- Appends a message that names files, as log/append.lua appends any other.
--
-- KEYS  last_id meta members msgs seen read skip senders sent by reactions reacted joined wants files unused_files named
--       core:enqueue at...
-- ARGV  from kind mark rest sent_ms key content reply_to target emoji removed:flag durable:flag channel keys_max:int
--       emojis_max:int group task_id below same file_ids names_max:int check_ms:int check_id known_only:flag
--       mentions...
--   file_ids    separated by blanks
--   names_max   messages that name one file
--   check_ms    until a task looks for files that no message names any longer; check_id is its id
--   known_only  the files were not to be had: only a known retry key is answered
--   the others as log/append.lua
-- Returns as log/append.lua
-- Refuses as log/append.lua; FILE if one is not a whole file of the sender in this group, NAMES
-- include: file_named
-- include: task_file
local anyone, bytes_added = false, 0
local function append_message()
  -- include: append
end

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
-- A send that is repeated gets its answer also where its files have gone since.
if refused and (key == '' or redis.call('HEXISTS', sent, key) == 0) then return refused end
local answer = append_message()
if answer[1] ~= 'OK' or answer[6] == 1 then return answer end

local message, now_ms = answer[2], clock_ms()
local before = redis.call('HINCRBY', meta, 'named_bytes', int(bytes_added)) - bytes_added
for _, one in ipairs(found) do
  local id, f = one[1], one[2]
  f.refs = f.refs == '-' and message or f.refs .. ',' .. message
  file_write(id, f)
  redis.call('ZREM', unused_files, id)
  redis.call('ZADD', named, message, message .. ' ' .. id .. ' ' .. int(before) .. ' ' .. f.size)
end
enqueue_file_check(check_id, now_ms + check_ms, now_ms)
return answer
