-- Reads the open streams of a group. Only reads.
--
-- KEYS  meta streams streamed
-- ARGV  ids...
--   ids  of messages; none: all
-- Returns {OK, epoch, then id, author, mark, generation, ms since the last piece, ms since it began, text, ... of each that is open}
-- include: stream
local epoch = redis.call('HGET', meta, 'epoch')
local now_ms = clock_ms()
local out, asked = {'OK', epoch or ''}, {unpack(ARGV, ids)}
if #asked == 0 then asked = redis.call('HKEYS', streams) end
for _, id in ipairs(asked) do
  local s = stream_of(id)
  if s then
    local n = #out
    out[n + 1], out[n + 2], out[n + 3], out[n + 4], out[n + 5] = id, s.author, s.mark, int(s.gen), int(now_ms - s.last)
    out[n + 6], out[n + 7] = int(now_ms - s.opened), stream_body(s)
  end
end
return out
