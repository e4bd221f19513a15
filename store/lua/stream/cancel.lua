-- Asks the author of a message that is being written to stop. The author's sessions hear of it, and so does the next piece.
--
-- KEYS  meta members mutes streams streamed
-- ARGV  caller id channel
-- Returns {OK}
-- Refuses NOTFOUND, FORBIDDEN, BLOCKS, MUTED, ENDED (it is no open stream)
-- include: stream
-- include: may_write
local epoch, visibility, post, muted, has_streams = unpack(redis.call('HMGET', meta, 'epoch', 'visibility', 'post', 'muted', 'streams'))
if not epoch then return {'NOTFOUND'} end
local refused = may_write(visibility, post, muted, caller)
if refused then return refused end
local s = has_streams and stream_of(id)
if not s then return {'ENDED'} end

s.cancelled = '1'
stream_write(s)
redis.call(PUBLISH, channel, 'k ' .. epoch .. ' ' .. id .. ' ' .. s.author .. ' ' .. caller)
return {'OK'}
