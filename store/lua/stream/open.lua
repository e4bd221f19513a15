-- Appends a message that is still being written, as log/append.lua appends any other, with what stands of it, and a task that ends it.
--
-- KEYS  last_id meta members msgs seen read skip senders reactions reacted joined wants files_named mutes slow expires streams streamed
--       core:enqueue own(by sent)... at... thread(threads replies)...
-- ARGV  text streams_max:int silence_ms:int channel group keys_max:int count:int durable:flag more
--       rows(from mark rest sent_ms key content)... mentions...
--   text         that it begins with
--   streams_max  that are open in the group
--   silence_ms   after which it ends
--   the others as log/append.lua
-- Returns as log/append.lua
-- Refuses NOTFOUND, STREAMS
-- include: stream
-- include: task_stream
local anyone, bytes_added = false, 0
-- bind: rows at rows
local function append_message()
  -- include: append
end

-- Who may not write learns that first, and a repeat gets its answer.
local full = redis.call('HLEN', streams) >= streams_max
if full and redis.call('ZSCORE', seen, from) then
  -- bind: own at own
  if key == '' or redis.call('HEXISTS', sent, key) == 0 then return {'STREAMS'} end
end
local answer = append_message()
local id = answer[5]
if type(id) ~= 'string' or not string.find(id, '^%d+/?%d*$') then return answer end
id = string.match(id, '^%d+')

local now_ms = clock_ms()
local s = {id = id, author = from, mark = mark, length = 0, gen = 0, chunks = 0, tail = 0, opened = now_ms, last = now_ms, window = 0, count = 0,
  cancelled = '0'}
stream_add(s, text)
stream_write(s)
redis.call('HSET', meta, 'streams', '1')
enqueue_stream(stream_task(answer[2], id), answer[2], id, now_ms + silence_ms, now_ms)
return answer
