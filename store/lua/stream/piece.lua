-- Writes on at a message of the caller, and tells live readers. A piece that is there already changes nothing.
--
-- KEYS  meta members mutes streams streamed
-- ARGV  caller id offset:int piece replaces:flag channel bytes_max:int pieces_max:int window_ms:int
--   offset      where the piece begins, in bytes
--   replaces    the piece is the whole text
--   pieces_max  within window_ms
-- Returns {OK, bytes that stand, 1 if somebody asked to stop}
-- Refuses NOTFOUND, FORBIDDEN, BLOCKS, MUTED, ENDED (it is no open stream), STANDS (other content, or a hole, with the bytes that stand),
--         SPLIT (a piece begins within a character), TOOLONG, PIECES (too many, with ms to wait)
-- include: stream
-- include: may_write
local epoch, visibility, post, muted, has_streams = unpack(redis.call('HMGET', meta, 'epoch', 'visibility', 'post', 'muted', 'streams'))
if not epoch then return {'NOTFOUND'} end
if not role_of(caller) then return not_member(visibility) end
local s = has_streams and stream_of(id)
if not s then return {'ENDED'} end
if s.author ~= caller then return {'FORBIDDEN', 'writer'} end
local refused = may_write(visibility, post, muted, caller)
if refused then return refused end

if replaces then
  if s.length == #piece and stream_body(s) == piece then return {'OK', int(s.length), s.cancelled} end
elseif offset > s.length then
  return {'STANDS', int(s.length)}
elseif offset < s.length then
  local stands = stream_body(s)
  local byte = string.byte(stands, offset + 1)
  if byte >= 128 and byte < 192 then return {'SPLIT'} end
  if string.sub(stands, offset + 1, offset + #piece) == piece then return {'OK', int(s.length), s.cancelled} end
  return {'STANDS', int(s.length)}
end
if (replaces and 0 or s.length) + #piece > bytes_max then return {'TOOLONG'} end
local now_ms = clock_ms()
if now_ms - s.window >= window_ms then
  s.window, s.count = now_ms, 0
elseif s.count >= pieces_max then
  return {'PIECES', int(s.window + window_ms - now_ms)}
end

s.count, s.last = s.count + 1, now_ms
if replaces then
  stream_clear(s)
  s.gen = s.gen + 1
end
stream_add(s, piece)
stream_write(s)
redis.call(PUBLISH, channel, 's ' .. epoch .. ' ' .. id .. ' ' .. int(s.gen) .. ' ' .. (replaces and '-' or int(offset)) .. ' ' .. piece)
return {'OK', int(s.length), s.cancelled}
